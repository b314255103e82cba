"""German-to-English translation prompts in the style of newspaper sentences.

`prompts(seed, count)` returns distinct prompts `Translate German to English:
<sentence>`. Sentences of 8 to 35 words come from templates with typed slots
and from a list of complete sentences. The slots are chosen so that case and
gender always agree. About a third of the sentences are written in tokenised
style, with spaces around the punctuation.
"""

import random
import re

PREFIX = "Translate German to English: "
MIN_WORDS, MAX_WORDS = 8, 35


def words(text):
    """Split a whitespace-separated list of one-word entries."""
    return text.split()


def lines(text):
    """Split a list with one entry per line."""
    return [line.strip() for line in text.strip().splitlines() if line.strip()]


# --------------------------------------------------------------------------
# Slot values
# --------------------------------------------------------------------------

MALE_FIRST = words("""
Andreas Bernd Christian Daniel Dieter Erik Florian Frank Georg Gerhard Günter
Hans Heinz Helmut Holger Jan Jens Johannes Jonas Jörg Julian Jürgen Karl Kevin
Klaus Lars Leon Lukas Manfred Marco Markus Martin Matthias Mehmet Michael
Niklas Oliver Peter Rainer Ralf Robert Rolf Sebastian Stefan Sven Thomas Tim
Tobias Torsten Ulrich Uwe Werner Wolfgang""")

FEMALE_FIRST = words("""
Andrea Angelika Anja Anna Barbara Beate Birgit Brigitte Carolin Christa Claudia
Cornelia Daniela Doris Elke Eva Franziska Gabriele Gisela Hannah Heike Helga
Ingrid Jana Johanna Julia Karin Katharina Katrin Kerstin Lena Lisa Manuela
Maria Marion Martina Melanie Monika Nadine Nicole Petra Renate Sabine Sandra
Silke Simone Sonja Stefanie Susanne Tanja Ulrike Ursula Yasemin""")

LAST = words("""
Albrecht Arnold Bauer Baumann Becker Bergmann Böhm Brandt Braun Busch Dietrich
Engel Fischer Franke Friedrich Fuchs Graf Groß Günther Haas Hahn Hartmann
Heinrich Herrmann Hoffmann Huber Jäger Jansen Kaiser Keller Koch Köhler König
Krämer Krause Kühn Lang Lehmann Lindner Lorenz Maier Meyer Möller Müller
Neumann Otto Peters Pfeiffer Pohl Richter Roth Sauer Schäfer Schmitt Schneider
Schröder Schubert Schuster Seidel Simon Sommer Stein Thomas Vogel Vogt Wagner
Walter Weber Weiß Winkler Wolf Yilmaz Ziegler Zimmermann""")

MONTHS = words("""Januar Februar März April Mai Juni Juli August September
Oktober November Dezember""")

WEEKDAYS = words("Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag")

SLOTS = {
    # Names without article.
    "stadt": words("""
        Aachen Aalen Ansbach Augsburg Bamberg Bayreuth Bielefeld Bochum Bonn
        Braunschweig Celle Chemnitz Coburg Cottbus Darmstadt Deggendorf Dresden
        Duisburg Emden Erfurt Esslingen Flensburg Freiburg Fulda Gera Gießen
        Göttingen Gütersloh Hameln Heidelberg Heilbronn Hildesheim Ingolstadt
        Jena Kaiserslautern Karlsruhe Kassel Kempten Kiel Koblenz Konstanz
        Landshut Leipzig Lübeck Lüneburg Magdeburg Mainz Marburg Memmingen
        Münster Oldenburg Osnabrück Passau Pforzheim Potsdam Ravensburg
        Regensburg Reutlingen Rosenheim Rostock Saarbrücken Schwerin Siegen
        Straubing Trier Tübingen Ulm Weimar Wiesbaden Wolfsburg Würzburg
        Zwickau"""),
    "metropole": lines("""
        Berlin
        Wien
        Zürich
        Paris
        London
        Brüssel
        Rom
        Madrid
        Warschau
        Prag
        Budapest
        Athen
        Stockholm
        Kopenhagen
        Oslo
        Helsinki
        Lissabon
        Dublin
        Istanbul
        Moskau
        Kiew
        Washington
        New York
        Tokio
        Peking
        Neu-Delhi
        Kairo
        Nairobi
        Buenos Aires
        Mexiko-Stadt"""),
    "land": words("""
        Frankreich Italien Spanien Portugal Polen Tschechien Österreich Ungarn
        Rumänien Bulgarien Griechenland Kroatien Slowenien Dänemark Schweden
        Norwegen Finnland Island Irland Großbritannien Belgien Luxemburg
        Japan China Indien Südkorea Vietnam Australien Neuseeland Kanada
        Mexiko Brasilien Argentinien Chile Kolumbien Ägypten Marokko Tunesien
        Kenia Ghana Nigeria Südafrika Israel Jordanien Georgien Serbien"""),
    "region": words("""
        Bayern Hessen Niedersachsen Sachsen Thüringen Brandenburg
        Nordrhein-Westfalen Rheinland-Pfalz Schleswig-Holstein
        Baden-Württemberg Mecklenburg-Vorpommern Sachsen-Anhalt Tirol Kärnten
        Vorarlberg Oberösterreich Niederösterreich Südtirol Franken Schwaben
        Oberbayern Niederbayern Ostfriesland Westfalen Südhessen
        Ostthüringen"""),
    "club": lines("""
        Borussia Dortmund
        Borussia Mönchengladbach
        Bayer Leverkusen
        Bayern München
        Werder Bremen
        Eintracht Frankfurt
        Eintracht Braunschweig
        Hannover 96
        Schalke 04
        Hertha BSC
        Union Berlin
        Mainz 05
        RB Leipzig
        Arminia Bielefeld
        Fortuna Düsseldorf
        Dynamo Dresden
        Hansa Rostock
        Holstein Kiel
        Energie Cottbus
        Erzgebirge Aue
        Preußen Münster
        Kickers Offenbach
        Viktoria Köln
        Alemannia Aachen
        Carl Zeiss Jena
        Jahn Regensburg
        Greuther Fürth
        Darmstadt 98
        Rot-Weiß Erfurt
        Waldhof Mannheim
        Austria Wien
        Rapid Wien"""),
    "firma": lines("""
        Siemens
        Bosch
        Volkswagen
        BMW
        Continental
        BASF
        Bayer
        Henkel
        Adidas
        Puma
        SAP
        Infineon
        Thyssenkrupp
        Salzgitter
        Lufthansa
        Airbus
        Bombardier
        Miele
        Haribo
        Dr. Oetker
        Rossmann
        Lidl
        Rewe
        Zalando
        Nokia
        Samsung
        Philips
        Nestlé
        Novartis
        Shell
        Renault
        Toyota"""),
    # Feminine singular, used with article.
    "partei": words("""
        SPD CDU CSU FDP AfD SPÖ ÖVP FPÖ SVP Linkspartei Piratenpartei
        Bayernpartei Regierungspartei Oppositionspartei Umweltpartei
        Arbeiterpartei Fortschrittspartei Bauernpartei Bürgerliste
        Wählergemeinschaft"""),
    "amt_m": words("""
        Bürgermeister Oberbürgermeister Landrat Innenminister Finanzminister
        Kultusminister Wirtschaftsminister Umweltminister Justizminister
        Ministerpräsident Staatssekretär Fraktionschef Parteisprecher
        Regierungssprecher Stadtkämmerer Baudezernent Ortsvorsteher
        Generalsekretär Kreisbrandmeister Polizeisprecher Verkehrsminister
        Gesundheitsminister"""),
    "amt_f": words("""
        Bürgermeisterin Oberbürgermeisterin Landrätin Innenministerin
        Finanzministerin Kultusministerin Wirtschaftsministerin
        Umweltministerin Justizministerin Ministerpräsidentin Staatssekretärin
        Fraktionschefin Parteisprecherin Regierungssprecherin
        Stadtkämmerin Baudezernentin Ortsvorsteherin Generalsekretärin
        Polizeisprecherin Verkehrsministerin Gesundheitsministerin
        Schulleiterin"""),
    "beruf_m": words("""
        Lehrer Bäcker Schreiner Busfahrer Krankenpfleger Ingenieur Landwirt
        Elektriker Architekt Tierarzt Apotheker Kaufmann Winzer Förster Koch
        Maurer Schlosser Dachdecker Mechaniker Buchhändler Gärtner Friseur"""),
    "beruf_f": words("""
        Lehrerin Bäckerin Schreinerin Busfahrerin Krankenschwester Ingenieurin
        Landwirtin Erzieherin Architektin Tierärztin Apothekerin Kauffrau
        Winzerin Försterin Köchin Hebamme Schneiderin Anwältin Mechanikerin
        Buchhändlerin Gärtnerin Friseurin"""),
    # Buildings by gender.
    "bau_n": words("""
        Rathaus Freibad Hallenbad Feuerwehrhaus Museum Krankenhaus Parkhaus
        Gymnasium Jugendzentrum Altenheim Gemeindehaus Vereinsheim Stadion
        Theater Hotel Einkaufszentrum Schwimmbad Heizkraftwerk Bürgerhaus
        Klubhaus Stadtarchiv Gewerbegebiet"""),
    "bau_f": words("""
        Grundschule Sporthalle Brücke Stadthalle Bibliothek Kindertagesstätte
        Turnhalle Kläranlage Realschule Mehrzweckhalle Feuerwache Stadtbücherei
        Musikschule Jugendherberge Eishalle Tiefgarage Berufsschule Mensa
        Festhalle Umgehungsstraße Kapelle Markthalle"""),
    "bau_m": words("""
        Kindergarten Marktplatz Bahnhof Busbahnhof Spielplatz Sportplatz
        Friedhof Radweg Supermarkt Kreisverkehr Stadtpark Bauhof Dorfplatz
        Wasserturm Kurpark Kunstrasenplatz Aussichtsturm Schulhof Tierpark
        Campingplatz Rathausplatz Parkplatz"""),
    "strasse": words("""
        Bahnhofstraße Hauptstraße Gartenstraße Schillerstraße Goethestraße
        Lindenstraße Kirchgasse Schulstraße Mozartstraße Bergstraße
        Industriestraße Marktstraße Rosenstraße Ringstraße Poststraße
        Mühlgasse Waldstraße Friedrichstraße Kaiserstraße Parkstraße
        Uferstraße Dorfstraße"""),
    "fluss_f": words("""
        Elbe Donau Mosel Weser Spree Havel Isar Oder Saale Lahn Fulda Werra
        Ems Ruhr Saar Nahe Altmühl Salzach Unstrut Mulde Eder Lippe"""),
    # People in sport; {rolle} is masculine nominative.
    "rolle": words("""
        Mittelfeldspieler Stürmer Torhüter Verteidiger Außenverteidiger
        Innenverteidiger Abwehrchef Spielmacher Linksaußen Rechtsaußen
        Nationalspieler Flügelspieler Angreifer Mittelstürmer Mannschaftskapitän
        Neuzugang Routinier Libero Torjäger Ersatztorwart Schlussmann"""),
    "verletzung": words("""
        Oberschenkelzerrung Knieverletzung Gehirnerschütterung Schulterverletzung
        Muskelverhärtung Sprunggelenksverletzung Fußprellung Rückenverletzung
        Adduktorenzerrung Wadenverletzung Bänderdehnung Leistenverletzung
        Handverletzung Achillessehnenreizung Kapselverletzung Rippenprellung
        Hüftprellung Grippe Magenverstimmung Zehenverletzung"""),
    "sportart": words("""
        Judo Fechten Rudern Turnen Schwimmen Ringen Boxen Biathlon
        Skispringen Radsport Tennis Tischtennis Badminton Segeln Kanufahren
        Bogenschießen Gewichtheben Skilanglauf Rodeln Eisschnelllauf
        Dressurreiten"""),
    # Team and racket sports; masculine singular local clubs and vehicles.
    "ballsport": words("""
        Handball Volleyball Basketball Tennis Tischtennis Hockey Eishockey
        Badminton Wasserball Rugby Baseball Softball Faustball Floorball
        Feldhockey Hallenfußball Beachvolleyball Squash Korbball Prellball
        Rollhockey"""),
    "verein": words("""
        Sportverein Schützenverein Musikverein Gesangverein Heimatverein
        Turnverein Förderverein Kulturverein Tierschutzverein Reitverein
        Gartenbauverein Karnevalsverein Angelverein Trachtenverein
        Seniorenclub Tennisclub Ruderclub Skiclub Kirchenchor Imkerverein
        Schachclub Trägerverein"""),
    "fahrzeug": words("""
        Lastwagen Kleintransporter Traktor Motorroller Linienbus Sattelzug
        Geländewagen Lieferwagen Kleinwagen Streifenwagen Reisebus Tanklaster
        Sportwagen Wohnwagen Mähdrescher Krankenwagen Müllwagen Kombi
        Kastenwagen Oldtimer Schulbus"""),
    "fest": words("""
        Stadtfest Weinfest Sommerfest Schützenfest Volksfest Straßenfest
        Dorffest Oktoberfest Altstadtfest Hafenfest Feuerwehrfest Kinderfest
        Lichterfest Erntedankfest Pfarrfest Schulfest Kürbisfest Jazzfestival
        Filmfestival Musikfestival Theaterfestival Literaturfestival"""),
    # Fixed phrases.
    "delikt": lines("""
        Betrugs
        Diebstahls
        schwerer Körperverletzung
        gefährlicher Körperverletzung
        Steuerhinterziehung
        räuberischer Erpressung
        Totschlags
        versuchten Mordes
        Urkundenfälschung
        Unterschlagung
        fahrlässiger Tötung
        schweren Raubes
        Brandstiftung
        Bestechung
        Untreue
        Hehlerei
        Nötigung
        Sachbeschädigung
        Hausfriedensbruchs
        unerlaubten Waffenbesitzes
        Fahrerflucht
        Drogenhandels"""),
    "vorhaben": lines("""
        die Gebühren für Kindertagesstätten zu senken
        den öffentlichen Nahverkehr auszubauen
        die Grundsteuer im kommenden Jahr nicht zu erhöhen
        den Mindestlohn schrittweise anzuheben
        die Zahl der Lehrerstellen zu verdoppeln
        das Rentenalter vorerst nicht anzutasten
        die Grenzkontrollen zu verlängern
        den Kohleausstieg vorzuziehen
        die Krankenhäuser auf dem Land zu erhalten
        das Wahlrecht grundlegend zu reformieren
        den Verkauf städtischer Wohnungen zu stoppen
        mehr Geld in den Hochwasserschutz zu stecken
        die Videoüberwachung an Bahnhöfen auszuweiten
        den Bau neuer Windräder zu erleichtern
        die Hilfen für Flüchtlinge aufzustocken
        das Freihandelsabkommen neu zu verhandeln
        die Ladenöffnungszeiten zu lockern
        das Tempolimit auf Landstraßen zu verschärfen
        die Bürger stärker an Entscheidungen zu beteiligen
        den Haushalt ohne neue Schulden auszugleichen
        die Steuern für kleine Betriebe zu senken
        den Breitbandausbau zu beschleunigen
        die Verwaltung zu verkleinern
        den sozialen Wohnungsbau zu fördern
        die Sanktionen vorerst beizubehalten
        das alte Schulgebäude abzureißen
        die Innenstadt für Autos zu sperren
        die Pflegeberufe besser zu bezahlen"""),
    "grund": lines("""
        weil das Geld fehlt
        weil die Nachfrage deutlich gestiegen ist
        weil sich die Gutachter nicht einig sind
        weil wichtige Unterlagen noch nicht vorliegen
        weil mehrere Anwohner Klage eingereicht haben
        weil die Bauarbeiten länger dauern als geplant
        weil es an Personal mangelt
        weil die Genehmigung noch aussteht
        weil sich die Vorschriften geändert haben
        weil das Wetter nicht mitspielt
        weil die Kosten aus dem Ruder gelaufen sind
        weil viele Mitarbeiter erkrankt sind
        weil der Vertrag nicht verlängert wurde
        weil die Sicherheit nicht gewährleistet werden kann
        weil zu wenige Anmeldungen eingegangen sind
        weil kein Investor gefunden wurde
        weil die Technik veraltet ist
        weil sich die Beteiligten nicht einigen konnten
        weil ein Sponsor abgesprungen ist
        weil der Boden zu stark belastet ist"""),
    # Reported speech, main-clause order, Konjunktiv.
    "konj": lines("""
        die Verhandlungen seien weit fortgeschritten
        man habe alles Mögliche unternommen
        die Vorwürfe entbehrten jeder Grundlage
        es gebe derzeit keinen Anlass zur Sorge
        der Zeitplan könne nicht eingehalten werden
        die Kosten müssten neu berechnet werden
        niemand habe mit einem solchen Ergebnis gerechnet
        die Lage habe sich deutlich entspannt
        das Vertrauen sei nachhaltig beschädigt
        man werde die Entscheidung sorgfältig prüfen
        die Bürger hätten ein Recht auf Auskunft
        dafür stünden keine Mittel zur Verfügung
        das Problem sei seit Jahren bekannt
        von einer Krise könne keine Rede sein
        die Belegschaft sei rechtzeitig informiert worden
        an dem Vorhaben werde nicht mehr gerüttelt
        die Ursache sei noch völlig unklar
        beide Seiten hätten Fehler gemacht
        das Land brauche jetzt stabile Verhältnisse
        die Schule dürfe nicht weiter vernachlässigt werden
        der Vorschlag gehe in die richtige Richtung
        man wolle zunächst das Gutachten abwarten
        eine schnelle Lösung sei nicht in Sicht
        es handle sich um einen bedauerlichen Einzelfall"""),
    # Quotations of officials and citizens.
    "zitat": lines("""
        Wir sind auf einem guten Weg
        Das ist ein wichtiges Signal für die ganze Region
        So kann es auf keinen Fall weitergehen
        Wir dürfen die Menschen mit ihren Sorgen nicht alleinlassen
        Damit hatte wirklich niemand gerechnet
        Das Geld ist hier gut angelegt
        Wir werden jeden Cent zweimal umdrehen müssen
        Die Entscheidung ist uns nicht leichtgefallen
        Das lässt sich nicht von heute auf morgen ändern
        Wir hatten großes Glück im Unglück
        Ich habe dazu alles gesagt
        Jetzt müssen Taten folgen
        Ohne die vielen Helfer wäre das nicht möglich gewesen
        Es geht um die Zukunft unserer Kinder
        Wir nehmen die Kritik sehr ernst
        Da muss endlich etwas passieren
        Ein besseres Angebot wird es nicht geben
        Die Stimmung war von Anfang an großartig
        Man muss auch einmal Nein sagen können
        Das war eine Nacht, die ich nie vergessen werde
        Wir brauchen mehr Mut und weniger Bürokratie
        Wer hier investiert, braucht einen langen Atem
        Am Ende zählt nur, was dabei herauskommt
        Das Vertrauen der Kunden ist unser höchstes Gut
        Auf diesen Moment haben wir lange gewartet
        Das war für uns alle ein Schock
        Wir lassen uns nicht einschüchtern
        Hier wird am falschen Ende gespart"""),
    "sportzitat": lines("""
        Wir haben heute einfach zu viele Chancen liegen lassen
        Die Mannschaft hat eine tolle Moral gezeigt
        In der zweiten Halbzeit waren wir klar besser
        Ich bin stolz auf die Jungs
        So darf man in dieser Liga nicht auftreten
        Der Punkt hilft uns im Abstiegskampf nur wenig
        Am Ende hat uns die Kraft gefehlt
        Wir müssen jetzt von Spiel zu Spiel denken
        Das Gegentor kam zum denkbar schlechtesten Zeitpunkt
        Mit etwas mehr Glück gewinnen wir dieses Spiel
        Er ist ein Spieler, der den Unterschied machen kann
        Ich freue mich riesig auf die neue Aufgabe
        Unsere Fans waren heute der zwölfte Mann
        Über den Schiedsrichter möchte ich nicht reden
        Das war unser bestes Saisonspiel
        Wir haben uns für den Aufwand nicht belohnt
        Die Tabelle interessiert mich im Moment überhaupt nicht
        Mein Knie fühlt sich wieder richtig gut an
        Der Sieg geht auch in dieser Höhe in Ordnung
        Wir wussten, dass es hier schwer wird"""),
    # Topics in the accusative ("über ...").
    "thema": lines("""
        den Haushalt für das kommende Jahr
        die geplante Schulreform
        den Ausbau der Autobahn
        die Zukunft der Stadtwerke
        das neue Verkehrskonzept
        die Sanierung der Altstadt
        den Umgang mit Flüchtlingen
        die steigenden Energiepreise
        das umstrittene Bauvorhaben
        den Klimaschutz
        die Folgen der Inflation
        den Fachkräftemangel
        die Reform der Rentenversicherung
        das Rauchverbot in Gaststätten
        die Sicherheit auf Schulwegen
        den geplanten Windpark
        die Lage im Nahen Osten
        die Schließung der Geburtsstation
        den Lärm am Flughafen
        das Wahlergebnis
        die künftige Verteidigungspolitik
        den Schutz der Moore"""),
    # Events in the genitive ("wegen ...", "trotz ...").
    "umstand": lines("""
        des schlechten Wetters
        der hohen Kosten
        des anhaltenden Regens
        der langen Bauzeit
        des großen Andrangs
        der schwachen Konjunktur
        des dichten Nebels
        der strengen Auflagen
        des fehlenden Personals
        der hohen Temperaturen
        des starken Windes
        der knappen Kassen
        des harten Winters
        der vielen Proteste
        des engen Zeitplans
        der schwierigen Lage
        des starken Schneefalls
        der zahlreichen Beschwerden
        des späten Beginns
        der lauten Kritik"""),
    # Plural nouns without article.
    "ware": lines("""
        Fahrräder
        Waschmaschinen
        Elektroautos
        Solaranlagen
        Smartphones
        Möbel
        Küchengeräte
        Spielwaren
        Lebensmittel
        Medikamente
        Werkzeugmaschinen
        Halbleiter
        Motoren
        Schuhe
        Bücher
        Wärmepumpen
        Wohnmobile
        Sportartikel
        Batterien
        Getränke
        Drucker
        Kühlschränke"""),
    "tier": words("""
        Wölfe Biber Luchse Störche Fledermäuse Wildschweine Feldhamster Kraniche
        Fischotter Eisvögel Schwalben Igel Rothirsche Hummeln Wildbienen
        Seeadler Uhus Mauersegler Feuersalamander Waschbären"""),
    # Exhibits, feminine singular.
    "objekt": words("""
        Handschrift Münze Landkarte Uhr Orgel Ritterrüstung Druckerpresse
        Bronzestatue Holzfigur Postkutsche Dampfmaschine Glocke Urkunde Vase
        Goldkette Totenmaske Puppenstube Geige Krone Bibel Sonnenuhr
        Marmorbüste"""),
    "kunst": lines("""
        der neue Roman
        der erste Spielfilm
        das jüngste Theaterstück
        die neue Oper
        der neue Dokumentarfilm
        das dritte Album
        der letzte Gedichtband
        die aktuelle Ausstellung
        das bislang größte Wandgemälde
        der preisgekrönte Kurzfilm
        das neue Musical
        der erste Krimi
        die neue Fernsehserie
        das späte Hauptwerk
        der autobiografische Roman
        die moderne Inszenierung
        das neue Hörspiel
        die vielgelobte Erzählung
        der historische Roman
        das erste Kinderbuch"""),
    # Conditions, dative without article ("bei ...").
    "wetter": lines("""
        strahlendem Sonnenschein
        strömendem Regen
        eisigen Temperaturen
        dichtem Nebel
        hochsommerlicher Hitze
        leichtem Schneefall
        starkem Wind
        bestem Wetter
        wolkenlosem Himmel
        nasskaltem Wetter
        milden Temperaturen
        Temperaturen um den Gefrierpunkt
        heftigen Böen
        schwülwarmem Wetter
        klirrender Kälte
        stürmischem Wetter
        frühlingshaften Temperaturen
        trübem Novemberwetter
        drückender Schwüle
        herrlichem Herbstwetter"""),
    # Research findings: verb-final clauses after "dass".
    "befund": lines("""
        regelmäßige Bewegung das Gedächtnis verbessert
        der Meeresspiegel schneller steigt als bisher angenommen
        viele Insektenarten stark zurückgegangen sind
        zu wenig Schlaf das Immunsystem schwächt
        Kinder auf dem Land seltener an Allergien leiden
        Mikroplastik selbst in Bergseen zu finden ist
        Vögel sich am Magnetfeld der Erde orientieren
        der Verzehr von Nüssen das Herz schützt
        ältere Autofahrer seltener Unfälle verursachen als jüngere
        die Gletscher der Alpen immer schneller schmelzen
        Zweisprachigkeit im Alter vor Demenz schützen kann
        unter der Eisdecke des Mondes ein Ozean liegt
        Stadtbäume die Luft deutlich abkühlen
        Lärm den Blutdruck dauerhaft erhöht
        das Virus von Fledermäusen stammt
        Delfine einander beim Namen rufen
        der Stern von mindestens vier Planeten umkreist wird
        Hunde menschliche Gefühle erkennen können
        die Höhle schon vor 40.000 Jahren bewohnt war
        der Boden große Mengen Kohlenstoff speichert"""),
    # Places to visit, dative after "in" or "auf" included.
    "reiseziel": lines("""
        an der Ostsee
        auf Rügen
        im Schwarzwald
        in den Alpen
        am Bodensee
        an der Nordsee
        im Harz
        auf Mallorca
        in der Toskana
        an der Algarve
        auf Kreta
        im Bayerischen Wald
        in der Lüneburger Heide
        auf Sylt
        im Allgäu
        an der Mosel
        in der Sächsischen Schweiz
        am Gardasee
        auf Usedom
        im Spreewald"""),
    "technik": lines("""
        ein selbstfahrender Bus
        eine neue Lern-App
        ein intelligenter Stromzähler
        ein Roboter für die Pflege
        eine Drohne mit Wärmebildkamera
        ein digitaler Parkausweis
        eine Software zur Spracherkennung
        ein besonders leichter Akku
        ein Lastenrad mit Elektromotor
        eine Suchmaschine für Kinder
        ein Sensor für Hochwasser
        ein Zug mit Wasserstoffantrieb
        ein digitales Klassenbuch
        eine Warn-App für Unwetter
        ein Chip zur Früherkennung von Krankheiten
        eine neue Solarzelle
        ein elektronischer Personalausweis
        ein schwimmendes Windrad
        ein Computerprogramm zur Verkehrssteuerung
        eine Bezahlfunktion für das Handy"""),
}


def _range(low, high):
    return lambda rng: str(rng.randint(low, high))


def _decimal(rng):
    return f"{rng.randint(1, 48)},{rng.randint(1, 9)}"


def _sum(rng):
    kind = rng.randrange(3)
    if kind == 0:
        return f"{rng.randint(2, 90)} Millionen Euro"
    if kind == 1:
        return f"{rng.randint(1, 19)},{rng.randint(1, 9)} Millionen Euro"
    return f"{rng.randint(20, 99) * 10}.000 Euro"


def _small_sum(rng):
    if rng.random() < 0.3:
        return f"{rng.randint(40, 95) * 10} Euro"
    return f"{rng.randint(2, 45)}.{rng.randint(0, 9)}00 Euro"


def _thousands(rng):
    return f"{rng.randint(2, 85)}.{rng.choice(['000', '500', '200', '800', '300'])}"


def _day(rng):
    part = rng.choice(["", "", "", "morgen", "vormittag", "mittag",
                       "nachmittag", "abend"])
    return rng.choice(WEEKDAYS) + part


def _score(rng):
    high = rng.randint(1, 5)
    return f"{high}:{rng.randint(0, high - 1)}"


COMPUTED = {
    "m": lambda rng: f"{rng.choice(MALE_FIRST)} {rng.choice(LAST)}",
    "f": lambda rng: f"{rng.choice(FEMALE_FIRST)} {rng.choice(LAST)}",
    "p": lambda rng: f"{rng.choice(MALE_FIRST + FEMALE_FIRST)} {rng.choice(LAST)}",
    "tag": _day,
    "wtag": lambda rng: rng.choice(WEEKDAYS),
    "monat": lambda rng: rng.choice(MONTHS),
    "datum": lambda rng: f"{rng.randint(2, 28)}. {rng.choice(MONTHS)}",
    "jahr": _range(1965, 2014),
    "altjahr": _range(1480, 1935),
    "jh": _range(12, 19),
    "zahl": _range(20, 480),
    "viele": _thousands,
    "klein": lambda rng: rng.choice(words(
        "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf")),
    "prozent": _decimal,
    "rund": _range(13, 88),
    "summe": _sum,
    "betrag": _small_sum,
    "lohn": _range(3, 9),
    "knapp": lambda rng: rng.choice(["1:0", "2:1", "3:2"]),
    "alter": _range(18, 84),
    "jung": _range(17, 34),
    "uhr": lambda rng: f"{rng.randint(1, 23)}.{rng.choice(['00', '15', '30', '45', '10', '20'])} Uhr",
    "tore": _score,
    "remis": lambda rng: rng.choice(["0:0", "1:1", "2:2", "3:3"]),
    "minute": _range(2, 90),
    "platz": _range(2, 18),
    "grad": _range(14, 38),
    "jahre": lambda rng: rng.choice(words(
        "zwei drei vier fünf sechs sieben acht neun zehn")),
    "bundesstr": _range(2, 480),
    "autobahn": _range(2, 96),
    "treue": lambda rng: str(rng.choice([25, 30, 40, 50, 60])),
    "jubi": lambda rng: str(rng.choice([25, 40, 50, 60, 75, 80, 90, 100, 125, 150, 175, 200])),
}

# --------------------------------------------------------------------------
# Templates. A digit after the slot name asks for a further, different value.
# --------------------------------------------------------------------------

TEMPLATES = lines("""
Die {partei} hat am {tag} in {stadt} angekündigt, {vorhaben}.
{amt_m} {m} versprach am {tag} vor rund {zahl} Zuhörern in {stadt}, {vorhaben}.
Nach Ansicht der {partei} ist es höchste Zeit, {vorhaben}, auch wenn das {summe} kosten würde.
„{zitat}“, sagte {amt_f} {f} am {tag} nach der Sitzung des Stadtrats von {stadt}.
„{zitat}“, erklärte {amt_m} {m}, der seit {jahr} im Amt ist.
{amt_f} {f} wies die Kritik zurück und sagte, {konj}.
Bei der Wahl in {land} kam die {partei} nach ersten Hochrechnungen auf {prozent} Prozent der Stimmen.
Mit {zahl} zu {rund} Stimmen lehnte das Parlament in {metropole} den Antrag der {partei} ab.
Die Regierungschefs von {land} und {land2} wollen sich am {datum} in {metropole} treffen, um über {thema} zu beraten.
Der Außenminister von {land} sagte in {metropole}, {konj}.
Obwohl die {partei} bei der Wahl {prozent} Prozent der Stimmen verlor, will ihr Vorsitzender {m} im Amt bleiben.
Wie aus einem internen Papier der {partei} hervorgeht, plant die Parteiführung, {vorhaben}.
Der Rücktritt von {amt_m} {m} kam für die meisten Beobachter in {metropole} völlig überraschend.
Im Streit über {thema} zeichnet sich auch nach {jahre} Verhandlungsrunden keine Einigung ab.
{amt_m} {m} und {amt_f} {f} stritten am {tag} im Fernsehen über {thema}.
Der Stadtrat von {stadt} hat sich mit großer Mehrheit dafür ausgesprochen, {vorhaben}.
Die {partei} in {stadt} fordert, {vorhaben}, während die {partei2} vor den Kosten warnt.
Ob die {partei} dem Vorschlag von {amt_f} {f} zustimmen wird, ist nach wie vor offen.
Der Gemeinderat entschied am {tag} nach langer Debatte über {thema}.
Gegen die Stimmen der {partei} beschloss der Kreistag, für den Umbau {summe} bereitzustellen.
Vor dem Rathaus in {stadt} demonstrierten am {tag} etwa {viele} Menschen gegen die Pläne von {amt_m} {m}.
Die Abgeordnete {f}, die der {partei} angehört, will bei der nächsten Wahl nicht mehr antreten.
{m} wurde am {tag} mit {prozent} Prozent der Stimmen zum neuen Vorsitzenden der {partei} gewählt.
In einem Brief an {amt_f} {f} verlangen {zahl} Eltern aus {stadt} Auskunft über {thema}.
Seit dem {datum} gilt in {region} ein Gesetz, das viele Kommunen vor große Probleme stellt.

{club} hat am {tag} durch ein Tor von {m} in der {minute}. Minute mit {knapp} gegen {club2} gewonnen.
Der {jung}-jährige {rolle} {m} wechselt für {summe} von {club} zu {club2}.
„{sportzitat}“, sagte Trainer {m} nach dem {remis} gegen {club}.
„{sportzitat}“, meinte {rolle} {m} nach dem {tore} gegen {club}.
{club} muss im Spiel gegen {club2} auf {rolle} {m} verzichten, der sich im Training verletzt hat.
Mit einer {verletzung} musste {rolle} {m} bereits nach {minute} Minuten ausgewechselt werden.
Nach der Niederlage gegen {club} liegt {club2} nur noch auf Platz {platz} der Tabelle.
Vor {viele} Zuschauern trennten sich {club} und {club2} am {tag} {remis}.
Trainer {m} steht bei {club} nach {jahre} Niederlagen in Folge vor der Entlassung.
Wie {club} am {tag} mitteilte, hat {rolle} {m} seinen Vertrag vorzeitig um {jahre} Jahre verlängert.
{rolle} {m}, der zuletzt an einer {verletzung} litt, ist bei {club} ins Training zurückgekehrt.
In der {minute}. Minute sah {rolle} {m} nach einem groben Foul die Rote Karte.
Im Pokal trifft {club} am {datum} auf {club2}, das letzte Duell war {tore} ausgegangen.
Erst in der Nachspielzeit gelang {rolle} {m} der Treffer zum {knapp} für {club}.
Sportdirektor {m} bestätigte, dass {club} einen neuen Torhüter aus {land} verpflichten will.
Die Damen aus {stadt} gewannen im {ballsport} auch ihr letztes Spiel und bleiben damit in dieser Saison ungeschlagen.
Bei den Meisterschaften im {sportart} in {stadt} holte die {jung}-jährige {f} überraschend die Goldmedaille.
{f} verpasste bei der Weltmeisterschaft in {metropole} als Vierte nur knapp eine Medaille.
Trotz {umstand} kamen {viele} Zuschauer zum Turnier nach {stadt}.
Weil {rolle} {m} mit einer {verletzung} ausfällt, rückt der erst {jung} Jahre alte {m2} in die Mannschaft.
Nach {jahre} Siegen in Serie träumt man bei {club} schon vom Aufstieg.
Der Verband bestrafte {club} wegen des Verhaltens der Fans mit einer Geldbuße von {betrag}.

{firma} hat im vergangenen Jahr {prozent} Prozent mehr {ware} verkauft als im Jahr zuvor.
Der Konzern {firma} will in seinem Werk in {stadt} bis zum Jahresende {zahl} Stellen streichen.
Wie ein Sprecher von {firma} am {tag} mitteilte, sollen in {stadt} künftig auch {ware} hergestellt werden.
Der Umsatz stieg im ersten Halbjahr um {prozent} Prozent auf {rund} Millionen Euro, wie {firma} am {tag} bekannt gab.
Die Aktie von {firma} verlor am {tag} zeitweise mehr als {prozent} Prozent an Wert.
Analysten rechnen damit, dass {firma} trotz {umstand} einen Gewinn von {rund} Millionen Euro ausweisen wird.
Die Preise für {ware} sind im {monat} so stark gestiegen wie seit {jahr} nicht mehr.
In {region} waren im {monat} rund {viele} Menschen weniger arbeitslos als ein Jahr zuvor.
Die Gewerkschaft fordert für die Beschäftigten von {firma} {lohn} Prozent mehr Lohn und eine Laufzeit von zwölf Monaten.
Ein Familienbetrieb aus {stadt}, der seit {altjahr} besteht, hat Insolvenz angemeldet.
Gegründet wurde das Unternehmen {jahr} von {f}, die zuvor als {beruf_f} gearbeitet hatte.
{firma} ruft weltweit rund {viele} {ware} zurück, {grund}.
Der Export nach {land} ging im {monat} um {prozent} Prozent zurück, teilte das Statistische Bundesamt mit.
Die Europäische Zentralbank werde den Leitzins vorerst nicht ändern, sagte ein Sprecher am {tag} in Frankfurt.
{firma} und {firma2} wollen bei der Entwicklung von Antrieben enger zusammenarbeiten, schließen eine Fusion aber aus.
„{zitat}“, sagte {f}, die den Betrieb in {stadt} in dritter Generation führt.

Bei einem Unfall auf der B {bundesstr} bei {stadt} sind am {tag} {klein} Menschen verletzt worden.
Auf der A {autobahn} ist am {tag} ein {fahrzeug} umgekippt, sodass die Strecke für {klein} Stunden gesperrt werden musste.
Aus bisher ungeklärter Ursache kam ein {alter} Jahre alter Autofahrer in der {strasse} von der Straße ab.
Ein {fahrzeug} hat am {tag} in der {strasse} in {stadt} einen Radfahrer erfasst und schwer verletzt.
Die Feuerwehr aus {stadt} war mit {zahl} Kräften im Einsatz und hatte die Flammen nach {klein} Stunden unter Kontrolle.
Gegen {uhr} bemerkte eine Nachbarin den Rauch, der aus dem Dach des Hauses in der {strasse} drang.
Der Schaden, der bei dem Brand in der {strasse} entstand, wird auf {summe} geschätzt.
Ein {alter}-jähriger {beruf_m} wurde leicht verletzt, als sein Wagen mit einem {fahrzeug} zusammenstieß.
Die Polizei sucht nach einem Mann, der am {tag} eine Tankstelle in der {strasse} überfallen hat.
Zeugen, die gegen {uhr} in der {strasse} etwas beobachtet haben, werden gebeten, sich bei der Polizei zu melden.
Unbekannte sind in der Nacht zum {wtag} in das {bau_n} eingebrochen und haben {betrag} erbeutet.
In der Nacht zum {wtag} wurde in {stadt} ein {fahrzeug} gestohlen, der wenig später an der {fluss_f} gefunden wurde.
Der Fahrer, ein {alter} Jahre alter {beruf_m} aus {stadt}, stand nach Angaben der Polizei unter Alkoholeinfluss.
Taucher bargen am {tag} einen {fahrzeug} aus der {fluss_f}, der dort seit Wochen gelegen hatte.
Wegen {umstand} kam es am {tag} rund um {stadt} zu mehreren Unfällen, bei denen {klein} Menschen verletzt wurden.
Wie die Polizei mitteilte, war die {alter}-Jährige gegen {uhr} mit ihrem Hund an der {fluss_f} unterwegs gewesen.
Ein Rettungshubschrauber brachte den schwer verletzten {beruf_m} in das Klinikum nach {stadt}.

Das neue {bau_n} in {stadt} soll {summe} kosten und im {monat} eröffnet werden.
Die {bau_f} in der {strasse} wird seit {monat} saniert und bleibt noch bis zum {datum} geschlossen.
Der {bau_m} in {stadt} kann nicht wie geplant im {monat} freigegeben werden, {grund}.
Am {tag} wurde in {stadt} der Grundstein für die neue {bau_f} gelegt, in die {summe} fließen sollen.
{amt_m} {m} übergab am {tag} den Schlüssel für das neue {bau_n} an den {verein}.
Während der Bauarbeiten in der {strasse} wird der Verkehr bis zum {datum} über die {strasse2} umgeleitet.
„{zitat}“, sagte {amt_f} {f} bei der Einweihung der neuen {bau_f}.
Das alte {bau_n}, das {altjahr} errichtet wurde, soll einem {bau_m} weichen.
Ursprünglich hatte die {bau_f} schon {jahr} fertig sein sollen, doch der Baubeginn verzögerte sich immer wieder.
Die Anwohner der {strasse} wehren sich gegen die Pläne der Stadt, direkt nebenan einen {bau_m} zu bauen.
Für die Sanierung der {bau_f} hat die Gemeinde einen Zuschuss von {summe} beantragt.
Der Architekt {m} betonte, {konj}.
Auf die Frage, wann die {bau_f} wieder öffne, sagte {amt_m} {m}, {konj}.
Das {bau_n} und die {bau_f} in {stadt} müssen vorerst geschlossen bleiben, {grund}.

Der {verein} in {stadt} feiert in diesem Jahr sein {jubi}-jähriges Bestehen mit einem großen {fest}.
Auf der Jahreshauptversammlung des örtlichen Vereins wurde {f} einstimmig zur neuen Vorsitzenden gewählt.
Bei {wetter} feierten am {wtag} rund {viele} Besucher das {fest} in {stadt}.
Das für den {datum} geplante {fest} muss ausfallen, {grund}.
Der {verein}, dem {zahl} Mitglieder angehören, sucht dringend einen neuen Kassierer.
Für {treue} Jahre Mitgliedschaft im {verein} wurde {m} mit der goldenen Ehrennadel ausgezeichnet.
Mit dem Erlös von {betrag} will der {verein} die Kinderstation des Krankenhauses unterstützen.
Am {datum} lädt der {verein} alle Interessierten zu einem Tag der offenen Tür nach {stadt} ein.
Die Schüler der Schule in der {strasse} haben für das {fest} ein eigenes Theaterstück geschrieben.
An der Schule in der {strasse} werden derzeit {zahl} Kinder aus {klein} Nationen unterrichtet.
{f}, die {jahre} Jahre lang die Schule in {stadt} geleitet hat, wird am {datum} in den Ruhestand verabschiedet.
Beim {fest} in {stadt} treten in diesem Jahr {klein} Gruppen aus {land} und {land2} auf.
Trotz {umstand} zeigten sich die Veranstalter mit dem {fest} sehr zufrieden.
„{zitat}“, freute sich {p} vom {verein}.
Das {fest} beginnt am {wtag} um {uhr} mit einem ökumenischen Gottesdienst auf dem Marktplatz.

{kunst} von {f} erzählt von einer {beruf_f}, die nach {jahre} Jahren in ihre Heimat zurückkehrt.
{kunst} von {m} wird am {datum} in {stadt} erstmals dem Publikum vorgestellt.
Wer {kunst} von {f} kennt, kommt an Vergleichen mit ihrem Debüt nicht vorbei.
Der Schriftsteller {m}, geboren {altjahr} in {stadt}, gilt heute als einer der bedeutendsten Vertreter seiner Zeit.
Für ihre Rolle als {beruf_f} wurde die Schauspielerin {f} in {metropole} mit einem Preis geehrt.
Im Museum in {stadt} ist noch bis zum {datum} eine {objekt} aus dem {jh}. Jahrhundert zu sehen.
Die {objekt}, die {altjahr} aus der Sammlung verschwunden war, ist in {metropole} wieder aufgetaucht.
Bei Ausgrabungen in der Nähe von {stadt} wurde eine {objekt} entdeckt, die aus dem {jh}. Jahrhundert stammt.
Die wertvolle {objekt} wurde bei einer Auktion in {metropole} für {summe} versteigert.
Der Sage nach soll in {stadt} im Jahr {altjahr} eine {objekt} vergraben worden sein.
Die im {jh}. Jahrhundert erbaute Burg an der {fluss_f} wurde {altjahr} von einem Feuer zerstört.
Historiker {m} hat herausgefunden, dass in dem Haus in der {strasse} einst ein bekannter {beruf_m} lebte.
Zu den Höhepunkten der Ausstellung zählt eine {objekt}, die das Museum {jahr} für {summe} erworben hat.
Der Kritiker {m} schrieb, {kunst} sei der Künstlerin nicht gelungen.
Die Regisseurin {f} verlegt die Handlung der Oper in ein {bau_n} der Gegenwart.
Das Konzert in {stadt} war innerhalb von {klein} Stunden ausverkauft, obwohl die Karten mehr als {rund} Euro kosteten.

Forscher der Universität {stadt} haben herausgefunden, dass {befund}.
Eine Studie aus {land} kommt zu dem Ergebnis, dass {befund}.
Dass {befund}, ist nach Ansicht der Biologin {f} längst kein Geheimnis mehr.
Für die Untersuchung befragten Wissenschaftler aus {stadt} über einen Zeitraum von {jahre} Jahren {viele} Menschen.
Die Physikerin {f} aus {stadt} erhält für ihre Arbeit einen mit {betrag} dotierten Preis.
In {region} sind nach Angaben von Naturschützern wieder mehr {tier} zu beobachten.
Wo früher {tier} lebten, stehen heute Wohnhäuser, beklagt {p} vom {verein}.
Um {tier} besser zu schützen, sollen an der {fluss_f} neue Rückzugsgebiete entstehen.
{technik}, entwickelt in {stadt}, soll vielen Menschen künftig den Alltag erleichtern.
{technik} ist im {monat} in {stadt} zum ersten Mal getestet worden.
Entwickelt wurde das Verfahren von einem Team um {f}, das eng mit {firma} zusammenarbeitet.
Die Raumsonde, an deren Bau auch Ingenieure aus {stadt} beteiligt waren, soll am {datum} starten.
Ärzte aus {stadt} warnen davor, Symptome zu lange zu ignorieren, da sich die Krankheit sonst ausbreiten könne.

Am {wtag} klettern die Temperaturen in {region} auf bis zu {grad} Grad, bevor am Abend Gewitter aufziehen.
Nach tagelangem Regen ist der Pegel der {fluss_f} bei {stadt} auf den höchsten Stand seit {jahr} gestiegen.
In {region} fielen innerhalb von {klein} Stunden {rund} Liter Regen pro Quadratmeter.
Meteorologe {m} rechnet damit, dass der Sturm am {tag} {region} erreichen wird.
Bei {wetter} warteten am {tag} {zahl} Reisende stundenlang auf ihren Flug nach {metropole}.
Der {monat} war in {region} so trocken wie seit dem Jahr {jahr} nicht mehr.

Wer seinen Urlaub {reiseziel} verbringen will, muss in diesem Sommer deutlich mehr bezahlen.
Immer mehr Deutsche verbringen ihre Ferien {reiseziel}, obwohl die Preise seit {jahr} um {rund} Prozent gestiegen sind.
Die Bahn plant ab {monat} eine direkte Verbindung von {stadt} nach {metropole}.
Ein Hotel {reiseziel} wurde von den Lesern zum besten Haus des Jahres gewählt.
Das Auswärtige Amt rät wegen der unsicheren Lage von Reisen nach {land} ab.
{m} ist mit dem Fahrrad von {stadt} bis nach {metropole} gefahren und hat darüber ein Buch geschrieben.

Das Landgericht {stadt} hat einen {alter}-jährigen {beruf_m} wegen {delikt} zu {jahre} Jahren Haft verurteilt.
Wegen {delikt} muss sich seit {wtag} eine {beruf_f} aus {stadt} vor Gericht verantworten.
Der Staatsanwalt wirft dem {alter} Jahre alten Angeklagten vor, {klein} Menschen um insgesamt {betrag} betrogen zu haben.
Vor dem Amtsgericht {stadt} räumte der Angeklagte ein, die {objekt} gestohlen und in {metropole} verkauft zu haben.
Die Richterin {f} sah es als erwiesen an, dass der {beruf_m} aus Geldnot gehandelt hatte.
Der Verteidiger forderte einen Freispruch und sagte, {konj}.
Das Verfahren wegen {delikt} wurde gegen Zahlung von {betrag} eingestellt.
Der Prozess gegen die {alter}-jährige {beruf_f} wird am {datum} mit der Vernehmung weiterer Zeugen fortgesetzt.
Der wegen {delikt} vorbestrafte Mann war erst im {monat} aus dem Gefängnis entlassen worden.
""")

# --------------------------------------------------------------------------
# Complete sentences
# --------------------------------------------------------------------------

SENTENCES = lines("""
Die Kanzlerin reiste noch am selben Abend nach Brüssel, wo die Staats- und Regierungschefs bis tief in die Nacht verhandelten.
Der Bundestag hat das umstrittene Gesetz mit den Stimmen der Koalition verabschiedet, im Bundesrat droht es jedoch zu scheitern.
„Wer den Frieden will, muss auch mit seinen Gegnern sprechen“, mahnte der Bundespräsident in seiner Weihnachtsansprache.
Die Opposition wirft der Regierung vor, die Öffentlichkeit über Monate hinweg getäuscht zu haben.
Nach der verlorenen Abstimmung blieb dem Premierminister nichts anderes übrig, als Neuwahlen auszurufen.
In der Hauptstadt gingen am Wochenende Zehntausende auf die Straße, um gegen die Korruption im Land zu protestieren.
Der Minister ließ über seine Sprecherin ausrichten, er habe von dem Vorgang erst aus der Zeitung erfahren.
Die Wahlbeteiligung lag bis zum Mittag bei knapp 28 Prozent und damit etwas höher als vor fünf Jahren.
Dass die beiden Parteien überhaupt miteinander reden, gilt in Wien bereits als kleiner Erfolg.
Weder der Senator noch seine Mitarbeiter wollten sich am Freitag zu den Vorwürfen äußern.
Es sei nicht die Aufgabe des Staates, den Bürgern vorzuschreiben, was sie zu essen hätten, sagte der Abgeordnete.
Die Außenminister einigten sich darauf, die humanitäre Hilfe für die betroffenen Gebiete um 40 Millionen Euro aufzustocken.
Sollte das Referendum scheitern, müsste die Verfassungsänderung noch einmal von vorn beraten werden.
Der Ausschuss vertagte die Entscheidung, da mehrere Mitglieder die Unterlagen erst am Vorabend erhalten hatten.
Ausgerechnet in ihrem eigenen Wahlkreis verlor die Spitzenkandidatin mehr als zehn Prozentpunkte.
Im kommenden Jahr sollen alle Behörden des Landes ihre Formulare auch in leichter Sprache anbieten.
Der Vorschlag, die Sommerferien bundesweit zu vereinheitlichen, stößt vor allem im Süden auf heftigen Widerstand.
Mit bewegten Worten verabschiedete sich der dienstälteste Abgeordnete nach 36 Jahren aus dem Landtag.
Die Grenze zwischen den beiden Ländern bleibt geschlossen, bis die Sicherheitskräfte die Lage wieder im Griff haben.
Kurz vor Mitternacht trat die Delegation vor die Presse und verkündete den lange erwarteten Durchbruch.
Der FC Bayern tat sich gegen den Aufsteiger lange schwer und kam erst durch einen späten Elfmeter zum Sieg.
Die deutsche Nationalmannschaft bestreitet ihr letztes Testspiel vor der Europameisterschaft in Gelsenkirchen gegen Ungarn.
Nach seinem Kreuzbandriss hofft der Stürmer, spätestens zum Beginn der Rückrunde wieder auf dem Platz zu stehen.
„Das Spiel haben wir in den ersten zwanzig Minuten verloren“, räumte der Kapitän mit gesenktem Kopf ein.
Der Torwart parierte zwei Elfmeter und wurde nach dem Abpfiff von seinen Mitspielern auf Schultern vom Platz getragen.
Im Zehnkampf lag der junge Ulmer nach dem ersten Tag überraschend auf dem dritten Rang.
Die Biathletin traf alle 20 Scheiben, verlor in der Loipe aber zu viel Zeit auf die Norwegerinnen.
Nach dem Sturz auf der letzten Abfahrt musste der Radprofi mit gebrochenem Schlüsselbein aufgeben.
Der Verein trennte sich am Montag von seinem Trainer, nachdem die Mannschaft acht Spiele nicht gewonnen hatte.
Wegen Pyrotechnik in der Fankurve wurde die Partie kurz vor der Pause für mehrere Minuten unterbrochen.
Die Gäste gingen früh in Führung, ließen sich danach aber zu weit in die eigene Hälfte drängen.
Ob der Brasilianer am Samstag auflaufen kann, entscheidet sich erst nach dem Abschlusstraining.
In der ausverkauften Halle drehten die Handballer einen Rückstand von sieben Toren und zogen ins Finale ein.
Der Schiedsrichter, der die Szene zunächst nicht gesehen hatte, entschied nach Ansicht der Videobilder auf Strafstoß.
Mit 38 Jahren denkt die Schwimmerin noch lange nicht daran, ihre Karriere zu beenden.
Der Aufsichtsrat stimmte dem Transfer zu, obwohl die Ablöse den bisherigen Rekord des Klubs weit übertrifft.
Zum Auftakt der Vierschanzentournee kamen trotz Dauerregens mehr als 20.000 Zuschauer nach Oberstdorf.
Für den Abstieg machte der Präsident vor allem die vielen Verletzungen verantwortlich, nicht aber den Trainer.
Das Bruttoinlandsprodukt ist im dritten Quartal nach vorläufigen Berechnungen um 0,3 Prozent gewachsen.
Die Inflation hat sich im Mai leicht abgeschwächt, bleibt aber deutlich über dem Ziel der Notenbank.
Der Autobauer zieht die Konsequenzen aus der schwachen Nachfrage und führt in zwei Werken Kurzarbeit ein.
Vor allem kleine Handwerksbetriebe klagen darüber, dass sie kaum noch Lehrlinge finden.
Die Lokführer haben ihren Streik ausgesetzt und wollen an diesem Dienstag an den Verhandlungstisch zurückkehren.
Mit dem Verkauf seiner Druckereisparte will der angeschlagene Verlag seine Schulden abbauen.
Wer jetzt Heizöl bestellt, zahlt für 3000 Liter rund ein Viertel weniger als im vergangenen Winter.
Die Sparkasse schließt zum Jahresende elf Filialen, weil immer mehr Kunden ihre Bankgeschäfte im Internet erledigen.
Der Milchpreis sei inzwischen so niedrig, dass viele Bauern draufzahlten, erklärte der Verbandspräsident.
An der Börse reagierten die Anleger enttäuscht auf die Zahlen, obwohl der Gewinn höher ausfiel als erwartet.
Die Reederei lässt zwei weitere Kreuzfahrtschiffe bauen, die mit Flüssiggas betrieben werden sollen.
Nach der Übernahme durch einen chinesischen Investor fürchten die 600 Beschäftigten um ihre Arbeitsplätze.
Die Winzer rechnen in diesem Jahr mit einer kleinen, aber qualitativ hervorragenden Ernte.
Jeder dritte Einzelhändler gab in der Umfrage an, unter der Konkurrenz der großen Onlineplattformen zu leiden.
Der Vorstandsvorsitzende verzichtet nach eigenen Worten auf einen Teil seines Gehalts, um ein Zeichen zu setzen.
Bei Grabungen für eine Tiefgarage stießen Arbeiter am Donnerstag auf eine 250 Kilogramm schwere Fliegerbombe.
Rund 3000 Anwohner mussten ihre Wohnungen verlassen, bevor der Sprengsatz am späten Abend entschärft werden konnte.
Eine brennende Mülltonne hat am frühen Sonntagmorgen einen Großeinsatz der Feuerwehr ausgelöst.
Der Lastwagen hatte Orangen geladen, die sich nach dem Unfall über alle drei Fahrspuren verteilten.
Ein sechsjähriger Junge, der sich im Wald verlaufen hatte, wurde nach vier Stunden wohlbehalten gefunden.
Weil ein Autofahrer die Vorfahrt missachtete, wurde eine Motorradfahrerin am Ortsausgang schwer verletzt.
Die beiden Insassen konnten sich selbst aus dem Wrack befreien und kamen mit dem Schrecken davon.
Ein Defekt an der Heizung hat vermutlich zu dem Brand geführt, bei dem die Scheune vollständig zerstört wurde.
Die Freiwillige Feuerwehr rückte im vergangenen Jahr 112-mal aus, so oft wie noch nie seit ihrer Gründung.
Eine Rentnerin durchschaute den Trick der angeblichen Polizisten und alarmierte sofort die echten Beamten.
Der Einbrecher war so betrunken, dass er auf dem Sofa seines Opfers einschlief.
Auf der Landstraße zwischen den beiden Dörfern gilt künftig Tempo 70, nachdem sich dort die Unfälle gehäuft hatten.
Der Hund, der drei Tage lang in einem Schacht gefangen war, ist wieder bei seiner Besitzerin.
Die Polizei geht davon aus, dass die Täter mit den örtlichen Gegebenheiten bestens vertraut waren.
Auf glatter Fahrbahn verlor die Fahranfängerin die Kontrolle über ihren Wagen und prallte gegen einen Baum.
Nach Angaben eines Sprechers bestand für die Bevölkerung zu keiner Zeit eine Gefahr.
Die Ortsdurchfahrt wird wegen Kanalarbeiten von Montag an halbseitig gesperrt, eine Ampel regelt den Verkehr.
Lange hat der Gemeinderat darüber gestritten, nun bekommt das Dorf doch noch einen Wochenmarkt.
Im Freibad sind die Eintrittspreise seit zwölf Jahren nicht erhöht worden, doch damit ist jetzt Schluss.
„Die alten Linden müssen stehen bleiben“, fordern die Mitglieder der Bürgerinitiative, die fast 900 Unterschriften gesammelt haben.
Der Kindergarten platzt aus allen Nähten, deshalb wird im Herbst eine weitere Gruppe eingerichtet.
Die Brücke über den Mühlbach ist so marode, dass sie nur noch von Fußgängern benutzt werden darf.
Einstimmig sprachen sich die Stadträte dafür aus, den Platz nach der ersten Ärztin des Ortes zu benennen.
Aus dem ehemaligen Bahnhofsgebäude, das jahrelang leer stand, soll ein Kulturzentrum mit Café werden.
Die Gemeinde hat das Grundstück am Ortsrand für einen symbolischen Euro von der Kirche erworben.
Der Spielplatz wird nach den Wünschen der Kinder gestaltet, die dafür eigens Modelle gebastelt haben.
Ein Investor möchte auf dem Gelände der alten Ziegelei 80 Wohnungen errichten, von denen ein Drittel gefördert wird.
Wann die Bauarbeiten an der Stadtmauer beginnen, steht noch nicht fest, da die Ausschreibung wiederholt werden muss.
Der Bürgermeister dankte allen Helfern, die nach dem Hochwasser tagelang Schlamm aus den Kellern geschaufelt hatten.
Die Theatergruppe probt bereits seit Februar für das Stück, das Mitte Juni im Schlosshof aufgeführt wird.
Mehr als vierzig Kinder beteiligten sich am Malwettbewerb, dessen Gewinner am Sonntag bekannt gegeben werden.
Zum ersten Mal in der Geschichte des Vereins steht eine Frau an der Spitze.
Die Landfrauen backten 60 Kuchen, die bereits am frühen Nachmittag restlos ausverkauft waren.
Nach dem Umzug durch den Ort trafen sich die Kapellen auf der Festwiese zum gemeinsamen Musizieren.
Dem Chor fehlen vor allem Männerstimmen, weshalb er nun sogar im Fußballverein um Nachwuchs wirbt.
Die Abiturienten überreichten ihrem scheidenden Direktor ein selbst gebautes Ruderboot.
Das traditionelle Fischerstechen lockte bei herrlichem Sommerwetter Tausende Schaulustige an das Ufer.
An den Schulen des Landkreises fehlen nach Angaben des Elternbeirats mindestens 25 Lehrkräfte.
Die Bücherei verleiht seit Kurzem nicht nur Bücher, sondern auch Bohrmaschinen, Zelte und Nähmaschinen.
Der Film, der im Winter 1947 spielt, verzichtet fast vollständig auf Musik und Dialoge.
Das Publikum feierte die Sopranistin mit minutenlangem Applaus, während der Regisseur einige Buhrufe hinnehmen musste.
In seinem neuen Roman schildert der Autor das Leben einer jüdischen Familie im Prag der Dreißigerjahre.
Das Gemälde, das jahrzehntelang unbeachtet auf einem Dachboden lag, wird nun einem Schüler Rembrandts zugeschrieben.
Die Band spielte ihre größten Hits, wagte sich aber auch an bislang unveröffentlichte Stücke.
Auf der Buchmesse präsentieren sich in diesem Jahr mehr als 4000 Aussteller aus über 90 Ländern.
„Ich schreibe nur über Dinge, vor denen ich Angst habe“, bekannte die Preisträgerin in ihrer Dankesrede.
Mit ihrem Debütalbum stürmte die erst neunzehnjährige Sängerin auf Anhieb an die Spitze der Charts.
Das Orchester gastiert im Herbst in Japan, wo es unter anderem Werke von Brahms und Bruckner spielen wird.
Der Schauspieler, der durch seine Rolle als mürrischer Kommissar berühmt wurde, starb im Alter von 81 Jahren.
Die Sammlung umfasst rund 12.000 Fotografien, von denen bisher nur ein Bruchteil gezeigt werden konnte.
Kritiker bemängeln, die Ausstellung erzähle viel über den Künstler, aber zu wenig über seine Zeit.
Das Heimatmuseum zeigt, wie mühsam das Waschen der Wäsche für unsere Urgroßmütter gewesen sein muss.
Im Keller des Klosters lagerten die Mönche bereits im Mittelalter Wein und Getreide.
Die Stadt wurde 1632 von schwedischen Truppen geplündert und erholte sich davon erst nach Jahrzehnten.
Von der einst mächtigen Festung sind heute nur noch die Grundmauern und ein runder Turm erhalten.
Im Jahr 1871 lebten in dem Dorf 412 Menschen, die meisten von ihnen arbeiteten als Weber.
Die Archäologen vermuten, dass an dieser Stelle schon vor mehr als 5000 Jahren Getreide angebaut wurde.
Besucher können im Freilichtmuseum zusehen, wie ein Schmied nach alter Tradition Hufeisen fertigt.
Der Stein, in den eine lateinische Inschrift gemeißelt ist, war über Jahrhunderte als Türschwelle benutzt worden.
Die Tagebücher des Forschungsreisenden, lange als verschollen geltend, sind in einem Antiquariat in Basel aufgetaucht.
Das Schloss diente während des Krieges als Lazarett und wurde danach als Schule genutzt.
Astronomen haben einen Planeten entdeckt, auf dem ein Jahr nur knapp 17 Stunden dauert.
Das neue Medikament senkt das Risiko eines Schlaganfalls, kann aber auch schwere Nebenwirkungen haben.
Bienen können offenbar bis vier zählen, wie ein Experiment australischer Biologen nahelegt.
Warum manche Menschen bis ins hohe Alter gesund bleiben, ist noch immer nicht vollständig geklärt.
Die Forscher bohrten mehr als drei Kilometer tief in das Eis der Antarktis, um Luftblasen aus der Urzeit zu gewinnen.
Ein internationales Team hat das Erbgut des Weizens entschlüsselt, das fünfmal so groß ist wie das des Menschen.
Die Impfung schützt nach Angaben des Instituts etwa zehn Jahre und sollte danach aufgefrischt werden.
Am Grund des Sees fanden die Taucher Pfähle, die von einer Siedlung aus der Bronzezeit stammen könnten.
Der Ausbruch des Vulkans hat so viel Asche in die Atmosphäre geschleudert, dass der Flugverkehr eingestellt werden musste.
Künstliche Intelligenz soll Radiologen künftig dabei helfen, Tumore früher zu erkennen.
Das Betriebssystem wird seit April nicht mehr mit Updates versorgt und gilt daher als unsicher.
Mit dem neuen Telefon lassen sich Videos in hoher Auflösung drehen, der Akku hält allerdings nur einen Tag.
Hacker haben nach Erkenntnissen der Ermittler die Daten von mehreren Hunderttausend Kunden erbeutet.
Bis zum Jahr 2030 sollen auf der Strecke nur noch Züge fahren, die ohne Diesel auskommen.
Der Roboter sortiert Pakete dreimal so schnell wie ein Mensch, scheitert aber noch an beschädigten Etiketten.
Datenschützer kritisieren, dass die Anwendung ohne Wissen der Nutzer deren Standort speichert.
Am Freitag überwiegen dichte Wolken, und von Westen her ziehen kräftige Schauer über das Land.
Der Deutsche Wetterdienst warnt vor Orkanböen mit Geschwindigkeiten von bis zu 130 Kilometern pro Stunde.
Nach dem mildesten Januar seit Beginn der Aufzeichnungen blühen in den Gärten bereits die Krokusse.
Der Hitzewelle fielen nach Schätzungen der Behörden vor allem ältere und allein lebende Menschen zum Opfer.
Oberhalb von 1200 Metern bleibt der Schnee liegen, auf den Passstraßen sind Winterreifen vorgeschrieben.
Die Waldbrandgefahr ist so hoch, dass Spaziergänger die Wege in den nächsten Tagen nicht verlassen sollten.
Wer mit dem Nachtzug anreist, erreicht die Lagunenstadt pünktlich zum Frühstück.
Auf der kleinen Insel gibt es keine Autos, dafür aber 200 Pferde und eine einzige Bäckerei.
Der Wanderweg führt durch eine wildromantische Schlucht, an deren Ende ein 40 Meter hoher Wasserfall wartet.
Die Fluggesellschaft hat den Reisenden angeboten, ihre Tickets kostenlos umzubuchen.
Touristen müssen für den Besuch der Altstadt künftig eine Gebühr von fünf Euro entrichten.
Abseits der überfüllten Strände liegen Bergdörfer, in denen die Zeit stehen geblieben zu sein scheint.
Der Bundesgerichtshof hob das Urteil auf und verwies den Fall an eine andere Kammer zurück.
Der Angeklagte schwieg zu den Vorwürfen und verfolgte die Verhandlung ohne sichtbare Regung.
Nach Überzeugung der Richter hatte der Arzt die Patientin nicht ausreichend über die Risiken aufgeklärt.
Die Klage eines Nachbarn, der sich durch das Krähen eines Hahns gestört fühlte, wurde abgewiesen.
Die Staatsanwaltschaft hat gegen den früheren Geschäftsführer Anklage wegen Insolvenzverschleppung erhoben.
Ein Mieter darf seine Wohnung nicht ohne Erlaubnis des Vermieters an Feriengäste vermieten, entschied das Gericht.
Weil der wichtigste Zeuge erkrankt ist, muss der Prozess auf unbestimmte Zeit verschoben werden.
Das Urteil, gegen das die Verteidigung Revision einlegen will, ist noch nicht rechtskräftig.
Muss ein Verein haften, wenn sich ein Zuschauer auf der Tribüne den Fuß bricht?
Wie viele Menschen sich zum Zeitpunkt des Einsturzes in dem Gebäude befanden, war zunächst unklar.
„Haben Sie wirklich geglaubt, dass niemand etwas merkt?“, fragte der Richter den Angeklagten.
Sie habe ihr Leben lang gearbeitet und wolle nun endlich reisen, erzählt die 67-jährige Schneiderin.
""")

# --------------------------------------------------------------------------
# Generation
# --------------------------------------------------------------------------

SLOT = re.compile(r"\{([a-z_]+)(\d?)\}")


def fill(template, rng):
    """Replace every slot of a template, never using a value twice."""
    used = set()

    def value(match):
        kind = match.group(1)
        while True:
            text = (COMPUTED[kind](rng) if kind in COMPUTED
                    else rng.choice(SLOTS[kind]))
            if (kind, text) not in used:
                used.add((kind, text))
                return text

    sentence = SLOT.sub(value, template)
    if sentence[0] == "„":
        return sentence
    return sentence[0].upper() + sentence[1:]


def tokenise(sentence):
    """Put spaces around the punctuation, leaving numbers and dates alone."""
    sentence = sentence.replace("„", "„ ").replace("“", " “")
    sentence = re.sub(r"([,;:?!])(?=\s|$)", r" \1", sentence)
    sentence = re.sub(r"\.$", " .", sentence)
    return re.sub(r" +", " ", sentence)


def fits(sentence):
    return MIN_WORDS <= len(sentence.split()) <= MAX_WORDS


def prompts(seed: int, count: int) -> list[str]:
    """Return `count` distinct prompts, the same ones for the same seed."""
    rng = random.Random(seed)
    complete = [s for s in SENTENCES if fits(s)]
    sentences = rng.sample(complete, min(len(complete), count // 4))
    seen = set(sentences)
    order = []
    for _ in range(50 * count):
        if len(sentences) == count:
            break
        if not order:
            order = rng.sample(TEMPLATES, len(TEMPLATES))
        sentence = fill(order.pop(), rng)
        if fits(sentence) and sentence not in seen:
            seen.add(sentence)
            sentences.append(sentence)
    if len(sentences) < count:
        raise ValueError(f"only {len(sentences)} distinct prompts available")
    rng.shuffle(sentences)
    return [PREFIX + (tokenise(s) if rng.random() < 1 / 3 else s)
            for s in sentences]
