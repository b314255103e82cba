"""Short factual questions, as people type them into a search engine.

`prompts(seed, count)` returns distinct questions about films, music, sport,
geography, history, science, medicine, technology, food, law and language.
They come from templates with typed slots of real names and from a list of
single questions. Most are written in lower case or with only the first letter
capitalised, the rest with ordinary capitals.
"""

import itertools
import random
import re


def lines(text):
    """Split a list with one entry per line."""
    return [line.strip() for line in text.strip().splitlines() if line.strip()]


def items(text):
    """Split a list whose entries are separated by semicolons."""
    return [" ".join(entry.split()) for entry in text.split(";") if entry.strip()]


# --------------------------------------------------------------------------
# Slot values
# --------------------------------------------------------------------------

SLOTS = {
    "film": items("""
        The Godfather; Jaws; Titanic; Casablanca; The Lion King; Jurassic Park;
        Back to the Future; Forrest Gump; Pulp Fiction; The Matrix; Gladiator;
        Braveheart; Goodfellas; Rocky; Top Gun; Grease; Dirty Dancing; Ghost;
        Pretty Woman; Home Alone; Die Hard; Alien; Blade Runner; E.T.;
        Schindler's List; Saving Private Ryan; The Green Mile;
        The Shawshank Redemption; Fight Club; Inception; Interstellar; Avatar;
        Frozen; Finding Nemo; Toy Story; Shrek; Mary Poppins;
        The Sound of Music; Singin' in the Rain; Psycho; Vertigo; Gravity;
        Black Panther; The Dark Knight; Mad Max; Beetlejuice; The Goonies;
        Labyrinth; Moana; Coco; La La Land; Parasite; Amélie; Trainspotting;
        Notting Hill; Love Actually; Chariots of Fire; The Truman Show;
        Groundhog Day; Speed"""),
    "series": items("""
        Friends; Seinfeld; Cheers; Frasier; MASH; The Simpsons; Breaking Bad;
        The Sopranos; The Wire; Mad Men; Lost; Game of Thrones; Stranger Things;
        The Office; Parks and Recreation; Downton Abbey; Sherlock; Doctor Who;
        The Crown; Peaky Blinders; Grey's Anatomy; ER; House; Scrubs;
        The West Wing; Dallas; Dynasty; Miami Vice; Magnum PI; The A-Team;
        Baywatch; Full House; Happy Days; The Golden Girls; Gilmore Girls;
        Buffy the Vampire Slayer; The X-Files; Twin Peaks; Gunsmoke; Bonanza;
        Little House on the Prairie; The Walking Dead; Supernatural; Castle;
        Bones; NCIS; Criminal Minds; Law and Order; Fawlty Towers; Blackadder"""),
    "role": items("""
        Rachel in Friends; Kramer in Seinfeld; Sam Malone in Cheers;
        Walter White in Breaking Bad; Don Draper in Mad Men;
        Tony Soprano in The Sopranos; Jon Snow in Game of Thrones;
        Eleven in Stranger Things; Dwight in The Office;
        Leslie Knope in Parks and Recreation; Lady Mary in Downton Abbey;
        Dr. Watson in Sherlock; Dana Scully in The X-Files;
        Tommy Shelby in Peaky Blinders; Jack in Titanic; Neo in The Matrix;
        Marty McFly in Back to the Future; Princess Leia in Star Wars;
        Rick Blaine in Casablanca; Sandy in Grease; Baby in Dirty Dancing;
        the joker in The Dark Knight; Hannibal Lecter in The Silence of the Lambs;
        Gandalf in The Lord of the Rings; Dumbledore in Harry Potter;
        Jack Sparrow in Pirates of the Caribbean; B.A. Baracus in The A-Team;
        Dr. House in House; JD in Scrubs; Lorelai in Gilmore Girls;
        Fonzie in Happy Days; Blanche in The Golden Girls; Basil in Fawlty Towers;
        Agent Cooper in Twin Peaks; Hoss in Bonanza; Maverick in Top Gun;
        Hans Gruber in Die Hard; Ripley in Alien; the genie in Aladdin;
        the donkey in Shrek; Dory in Finding Nemo; Woody in Toy Story"""),
    "actor": items("""
        Tom Hanks; Meryl Streep; Robert De Niro; Al Pacino; Julia Roberts;
        Harrison Ford; Leonardo DiCaprio; Kate Winslet; Denzel Washington;
        Morgan Freeman; Cate Blanchett; Anthony Hopkins; Emma Thompson;
        Sean Connery; Michael Caine; Judi Dench; Maggie Smith; Sigourney Weaver;
        Bruce Willis; Jodie Foster; Brad Pitt; George Clooney; Sandra Bullock;
        Will Smith; Samuel L. Jackson; Nicole Kidman; Hugh Jackman;
        Russell Crowe; Audrey Hepburn; Humphrey Bogart; Marlon Brando;
        James Dean; Marilyn Monroe; Charlie Chaplin; Robin Williams;
        Jim Carrey; Sally Field; Diane Keaton; Jeff Bridges; Kevin Costner"""),
    "song": items("""
        Hotel California; Stairway to Heaven; Bohemian Rhapsody; Imagine;
        Hey Jude; Yesterday; Let It Be; Like a Rolling Stone; Respect;
        I Will Always Love You; My Girl; Stand by Me; What's Going On;
        Purple Rain; Billie Jean; Thriller; Sweet Child o' Mine; Africa;
        Take On Me; Don't Stop Believin'; Livin' on a Prayer; Every Breath You Take;
        Sweet Caroline; American Pie; Piano Man; Tiny Dancer; Rocket Man;
        Dancing Queen; Waterloo; Stayin' Alive; I Will Survive; Hallelujah;
        Wonderwall; Creep; Zombie; Smells Like Teen Spirit; Fast Car; Jolene;
        Ring of Fire; Folsom Prison Blues; Landslide; Dreams; Layla;
        Brown Eyed Girl; Gimme Shelter; Born to Run; Rolling in the Deep;
        Uptown Funk; Shape of You; Superstition"""),
    "singer": items("""
        Elvis Presley; Johnny Cash; Dolly Parton; Aretha Franklin; Stevie Wonder;
        Michael Jackson; Madonna; Prince; David Bowie; Elton John; Freddie Mercury;
        Bob Dylan; Joni Mitchell; Bruce Springsteen; Tina Turner; Whitney Houston;
        Mariah Carey; Celine Dion; Adele; Beyoncé; Taylor Swift; Rihanna;
        Ed Sheeran; Lady Gaga; Amy Winehouse; Kate Bush; Billy Joel; Phil Collins;
        Sting; Rod Stewart; Cher; Diana Ross; Marvin Gaye; Otis Redding;
        Ray Charles; Frank Sinatra; Ella Fitzgerald; Nina Simone; Billie Holiday;
        Willie Nelson; Shania Twain; Garth Brooks; Eminem; Björk"""),
    "band": items("""
        the Beatles; the Rolling Stones; Queen; Pink Floyd; Led Zeppelin; the Who;
        the Kinks; the Doors; the Eagles; Fleetwood Mac; ABBA; the Bee Gees;
        Genesis; the Police; U2; R.E.M.; Nirvana; Pearl Jam; Radiohead; Oasis;
        Blur; Coldplay; Metallica; Iron Maiden; AC/DC; Aerosmith; Kiss; Van Halen;
        Journey; Toto; Duran Duran; Depeche Mode; the Cure; the Clash; the Ramones;
        Talking Heads; Blondie; the Supremes; the Temptations; the Beach Boys"""),
    "book": items("""
        Pride and Prejudice; Jane Eyre; Wuthering Heights; Great Expectations;
        Moby-Dick; The Great Gatsby; To Kill a Mockingbird; The Catcher in the Rye;
        Of Mice and Men; The Grapes of Wrath; Lord of the Flies; Animal Farm;
        Brave New World; Fahrenheit 451; Frankenstein; Dracula; The Hobbit;
        The Time Machine; Treasure Island; Robinson Crusoe; Gulliver's Travels;
        Don Quixote; War and Peace; Anna Karenina; Crime and Punishment;
        The Count of Monte Cristo; Les Misérables; Madame Bovary; The Stranger;
        The Metamorphosis; One Hundred Years of Solitude; The Name of the Rose;
        The Handmaid's Tale; Beloved; Things Fall Apart; Charlotte's Web;
        The Secret Garden; Little Women; Peter Pan; The Jungle Book"""),
    "author": items("""
        Jane Austen; Charles Dickens; Mark Twain; Ernest Hemingway;
        William Faulkner; Virginia Woolf; James Joyce; George Orwell;
        Agatha Christie; Arthur Conan Doyle; Oscar Wilde; Leo Tolstoy;
        Fyodor Dostoevsky; Anton Chekhov; Franz Kafka; Thomas Mann; Goethe;
        Victor Hugo; Jules Verne; Albert Camus; Marcel Proust; Dante; Homer;
        Cervantes; Pablo Neruda; Toni Morrison; Maya Angelou; Stephen King;
        Roald Dahl; C.S. Lewis; Edgar Allan Poe; Emily Dickinson; Robert Frost;
        Walt Whitman; John Steinbeck; Harper Lee"""),
    "country": items("""
        France; Spain; Portugal; Italy; Greece; Turkey; Poland; Hungary; Romania;
        Bulgaria; Sweden; Norway; Finland; Denmark; Iceland; Ireland; Switzerland;
        Austria; Germany; Belgium; Japan; China; India; Thailand; Vietnam;
        Indonesia; Malaysia; South Korea; Mongolia; Nepal; Pakistan; Iran; Iraq;
        Egypt; Morocco; Tunisia; Algeria; Nigeria; Ghana; Kenya; Ethiopia;
        Tanzania; South Africa; Namibia; Madagascar; Canada; Mexico; Cuba;
        Jamaica; Costa Rica; Colombia; Peru; Bolivia; Chile; Argentina; Brazil;
        Uruguay; Australia; New Zealand; Fiji"""),
    "colony": items("""
        India; Pakistan; Ghana; Nigeria; Kenya; Uganda; Tanzania; Zambia;
        Zimbabwe; Namibia; Angola; Mozambique; Algeria; Tunisia; Morocco; Senegal;
        Mali; Cameroon; Indonesia; Malaysia; Singapore; the Philippines; Vietnam;
        Cambodia; Jamaica; Barbados; Mexico; Peru; Brazil; Argentina; Bolivia;
        Haiti; Finland; Norway; Iceland; Ireland; Malta; Cyprus"""),
    "city": items("""
        Paris; London; Berlin; Vienna; Prague; Budapest; Warsaw; Rome; Venice;
        Florence; Barcelona; Madrid; Lisbon; Dublin; Edinburgh; Amsterdam; Brussels;
        Copenhagen; Stockholm; Helsinki; Athens; Istanbul; Moscow; Cairo; Nairobi;
        Cape Town; Mumbai; Bangkok; Singapore; Tokyo; Kyoto; Seoul; Shanghai;
        Sydney; Melbourne; Auckland; Toronto; Vancouver; Chicago; Boston; Seattle;
        New Orleans; San Francisco; Havana; Lima; Buenos Aires; Rio de Janeiro"""),
    "state": items("""
        Alabama; Alaska; Arizona; California; Colorado; Delaware; Florida; Georgia;
        Hawaii; Idaho; Illinois; Indiana; Iowa; Kansas; Kentucky; Louisiana; Maine;
        Maryland; Michigan; Minnesota; Mississippi; Missouri; Montana; Nebraska;
        Nevada; New Jersey; New Mexico; North Carolina; Ohio; Oklahoma; Oregon;
        Pennsylvania; South Dakota; Tennessee; Texas; Utah; Vermont; Virginia;
        Wisconsin; Wyoming"""),
    "river": items("""
        Nile; Amazon; Mississippi; Missouri; Danube; Rhine; Thames; Seine; Loire;
        Rhone; Elbe; Oder; Volga; Dnieper; Tigris; Euphrates; Indus; Ganges;
        Brahmaputra; Mekong; Yangtze; Yellow River; Amur; Murray; Congo; Niger;
        Zambezi; Limpopo; Orinoco; Rio Grande; Colorado River; Columbia River;
        Hudson; Ohio River; Yukon; St. Lawrence River; Po; Tagus; Ebro; Jordan"""),
    "landmark": items("""
        the Eiffel Tower; the Taj Mahal; the Colosseum; the Great Wall of
        China; Machu Picchu; the Statue of Liberty; the Golden Gate Bridge;
        the Empire State Building; Big Ben; Tower Bridge; Stonehenge; the
        Leaning Tower of Pisa; the Acropolis; the Brandenburg Gate;
        Neuschwanstein castle; the Sagrada Familia; the Alhambra; the Louvre;
        the Hagia Sophia; the Burj Khalifa; the Sydney Opera House; Angkor
        Wat; the Forbidden City; the Great Sphinx; the Suez Canal; the Panama
        Canal; the Hoover Dam; Mount Rushmore; the Space Needle; the Gateway
        Arch; the CN Tower; Hadrian's Wall; the Christ the Redeemer statue;
        the Parthenon; the Channel Tunnel"""),
    "place": items("""
        Mount Kilimanjaro; Mount Fuji; Mount Etna; Lake Baikal; Lake Victoria;
        Lake Titicaca; Lake Como; the Dead Sea; the Black Sea; the Sahara desert;
        the Gobi desert; the Atacama desert; the Serengeti; the Grand Canyon;
        Yellowstone; Yosemite; the Everglades; Death Valley; Niagara Falls;
        Victoria Falls; Angel Falls; the Great Barrier Reef; the Black Forest;
        the Scottish Highlands; Easter Island; the Galapagos Islands; Bora Bora;
        Zanzibar; Tasmania; Patagonia; Siberia; Transylvania; Tuscany; Provence;
        Timbuktu; Petra; Pompeii; Chernobyl; the Bermuda Triangle; Gibraltar"""),
    "animal": items("""
        elephant; giraffe; hippo; rhino; lion; tiger; cheetah; leopard; wolf; fox;
        polar bear; grizzly bear; panda; koala; kangaroo; platypus; sloth;
        armadillo; porcupine; hedgehog; beaver; otter; moose; reindeer; camel;
        llama; gorilla; chimpanzee; orangutan; blue whale; dolphin; octopus;
        great white shark; seahorse; sea turtle; crocodile; komodo dragon;
        rattlesnake; chameleon; bald eagle; ostrich; penguin; flamingo;
        hummingbird; barn owl; honey bee; tarantula; scorpion; monarch butterfly;
        earthworm"""),
    "disease": items("""
        measles; mumps; chickenpox; shingles; malaria; tuberculosis; cholera;
        typhoid; tetanus; polio; rabies; scurvy; rickets; anemia; asthma;
        bronchitis; pneumonia; diabetes; gout; arthritis; osteoporosis; eczema;
        psoriasis; glaucoma; leprosy; migraine; epilepsy; Parkinson's disease;
        Alzheimer's disease; multiple sclerosis; lupus; celiac disease;
        Crohn's disease; appendicitis; hepatitis B; Lyme disease; whooping cough;
        scarlet fever; sleep apnea; sepsis"""),
    "organ": items("""
        liver; pancreas; spleen; kidney; heart; gallbladder; appendix; thyroid;
        pituitary gland; hypothalamus; cerebellum; hippocampus; cornea; retina;
        aorta; trachea; esophagus; diaphragm; small intestine; large intestine;
        bladder; tonsils; adrenal gland; femur; clavicle; patella; achilles tendon;
        vagus nerve; inner ear; bone marrow"""),
    "element": items("""
        hydrogen; helium; lithium; carbon; nitrogen; oxygen; fluorine; neon; sodium;
        magnesium; aluminum; silicon; phosphorus; sulfur; chlorine; argon;
        potassium; calcium; titanium; chromium; manganese; iron; cobalt; nickel;
        copper; zinc; bromine; silver; tin; iodine; tungsten; platinum; gold;
        mercury; lead; radon; radium; uranium; plutonium; krypton"""),
    "planet": items("""
        Mercury; Venus; Mars; Jupiter; Saturn; Uranus; Neptune; Pluto; Ceres; Titan;
        Europa; Io; Ganymede; Callisto; Triton; Enceladus; Phobos; Eris; Charon;
        the moon"""),
    "invention": items("""
        telephone; light bulb; steam engine; printing press; typewriter; telegraph;
        radio; television; refrigerator; microwave oven; dishwasher; sewing machine;
        bicycle; airplane; helicopter; parachute; hot air balloon; submarine;
        jet engine; diesel engine; pneumatic tire; traffic light; zipper;
        safety pin; ballpoint pen; pencil; paper clip; vacuum cleaner; elevator;
        escalator; thermometer; stethoscope; barometer; telescope; microscope;
        x-ray machine; pacemaker; penicillin; dynamite; barbed wire; compact disc;
        computer mouse; world wide web; barcode; credit card; saxophone; piano"""),
    "scientist": items("""
        Isaac Newton; Albert Einstein; Marie Curie; Charles Darwin; Galileo;
        Nikola Tesla; Thomas Edison; Michael Faraday; James Clerk Maxwell;
        Louis Pasteur; Alexander Fleming; Gregor Mendel; Rosalind Franklin;
        Alan Turing; Ada Lovelace; Johannes Kepler; Copernicus; Tycho Brahe;
        Niels Bohr; Werner Heisenberg; Erwin Schrödinger; Max Planck;
        Enrico Fermi; Robert Oppenheimer; Richard Feynman; Stephen Hawking;
        Edwin Hubble; Carl Linnaeus; Alfred Wegener; Dmitri Mendeleev;
        Antoine Lavoisier; Robert Boyle; Archimedes; Pythagoras; Euler; Gauss"""),
    "president": items("""
        George Washington; John Adams; Thomas Jefferson; James Madison;
        James Monroe; Andrew Jackson; Martin Van Buren; James Polk;
        Zachary Taylor; Franklin Pierce; James Buchanan; Abraham Lincoln;
        Andrew Johnson; Ulysses Grant; James Garfield; Grover Cleveland;
        William McKinley; Theodore Roosevelt; William Howard Taft;
        Woodrow Wilson; Warren Harding; Calvin Coolidge; Herbert Hoover;
        Franklin Roosevelt; Harry Truman; Dwight Eisenhower; John F. Kennedy;
        Lyndon Johnson; Richard Nixon; Gerald Ford; Jimmy Carter; Ronald Reagan"""),
    "ruler": items("""
        Julius Caesar; Augustus; Nero; Hadrian; Constantine; Charlemagne;
        William the Conqueror; Richard the Lionheart; King John; Henry VIII;
        Mary Queen of Scots; Elizabeth I; Charles I; Oliver Cromwell; Louis XIV;
        Marie Antoinette; Napoleon; Queen Victoria; Peter the Great;
        Catherine the Great; Ivan the Terrible; Nicholas II; Otto von Bismarck;
        Frederick the Great; Maria Theresa; Genghis Khan; Kublai Khan;
        Tutankhamun; Cleopatra; Alexander the Great; Suleiman the Magnificent;
        Saladin; Ashoka; Akbar; Montezuma; Atahualpa"""),
    "war": items("""
        the Hundred Years' War; the Wars of the Roses; the Thirty Years' War;
        the Seven Years' War; the American Revolution; the French Revolution;
        the War of 1812; the Mexican-American War; the Crimean War;
        the American Civil War; the Franco-Prussian War; the Boer War;
        the Spanish-American War; the Russo-Japanese War; World War I;
        the Russian Revolution; the Spanish Civil War; World War II;
        the Korean War; the Vietnam War; the Six-Day War; the Falklands War;
        the Gulf War; the Peloponnesian War; the first Punic War;
        the first Crusade; the Opium Wars; the Winter War; the Cold War;
        the Iran-Iraq War"""),
    "battle": items("""
        Hastings; Agincourt; Bosworth; Lepanto; Waterloo; Trafalgar; Austerlitz;
        Leipzig; Gettysburg; Antietam; Bull Run; Shiloh; Vicksburg; the Alamo;
        Bunker Hill; Yorktown; Saratoga; Verdun; the Somme; Gallipoli; Jutland;
        Stalingrad; Kursk; El Alamein; Midway; Iwo Jima; Okinawa; the Bulge;
        Dien Bien Phu; Marathon; Thermopylae; Cannae; Tours; Culloden"""),
    "team": items("""
        Manchester United; Liverpool; Arsenal; Chelsea; Everton; Real Madrid;
        Barcelona; Atletico Madrid; Juventus; AC Milan; Inter Milan; Ajax;
        Bayern Munich; Borussia Dortmund; Benfica; Porto; Celtic;
        the New York Yankees; the Boston Red Sox; the Chicago Cubs;
        the St. Louis Cardinals; the Los Angeles Lakers; the Boston Celtics;
        the Chicago Bulls; the Detroit Pistons; the San Antonio Spurs;
        the Dallas Cowboys; the Green Bay Packers; the Pittsburgh Steelers;
        the New England Patriots; the Miami Dolphins; the Montreal Canadiens;
        the Toronto Maple Leafs; the Detroit Red Wings; the Edmonton Oilers"""),
    "usteam": items("""
        the New York Yankees; the Boston Red Sox; the Chicago Cubs;
        the St. Louis Cardinals; the Cincinnati Reds; the Pittsburgh Pirates;
        the Los Angeles Lakers; the Boston Celtics; the Chicago Bulls;
        the Detroit Pistons; the San Antonio Spurs; the Golden State Warriors;
        the Dallas Cowboys; the Green Bay Packers; the Pittsburgh Steelers;
        the New England Patriots; the Miami Dolphins; the Denver Broncos;
        the Buffalo Bills; the Minnesota Vikings; the Montreal Canadiens;
        the Toronto Maple Leafs; the Detroit Red Wings; the Edmonton Oilers;
        the Philadelphia Flyers"""),
    "athlete": items("""
        Pele; Diego Maradona; Lionel Messi; Cristiano Ronaldo; Zinedine Zidane;
        Johan Cruyff; Franz Beckenbauer; Michael Jordan; Magic Johnson; Larry Bird;
        Kobe Bryant; LeBron James; Babe Ruth; Jackie Robinson; Hank Aaron;
        Tom Brady; Joe Montana; Peyton Manning; Wayne Gretzky; Gordie Howe;
        Muhammad Ali; Mike Tyson; Roger Federer; Rafael Nadal; Serena Williams;
        Steffi Graf; Martina Navratilova; Bjorn Borg; Usain Bolt; Carl Lewis;
        Jesse Owens; Michael Phelps; Mark Spitz; Nadia Comaneci; Simone Biles;
        Tiger Woods; Jack Nicklaus; Michael Schumacher; Ayrton Senna;
        Eddy Merckx"""),
    "event": items("""
        the World Series; the Super Bowl; the Stanley Cup; the NBA Finals;
        the Masters; the US Open in tennis; Wimbledon; the French Open;
        the Australian Open; the Tour de France; the Kentucky Derby;
        the Indianapolis 500; the Daytona 500; the Boston Marathon;
        the FIFA World Cup; the Champions League; the European Championship;
        the Copa America; the Rugby World Cup; the Cricket World Cup;
        the Ryder Cup; the Eurovision Song Contest; the Monaco Grand Prix;
        the Grey Cup"""),
    "company": items("""
        Apple; Microsoft; IBM; Intel; Google; Amazon; Netflix; Facebook; Nintendo;
        Sony; Samsung; Nokia; Siemens; Philips; General Electric; Ford; Chrysler;
        General Motors; Toyota; Honda; Volkswagen; BMW; Ferrari; Porsche; Boeing;
        Airbus; Coca-Cola; Pepsi; Nestle; Kellogg's; McDonald's; Burger King;
        Starbucks; KFC; Walmart; Target; Ikea; Lego; Nike; Adidas; Levi's; Gucci;
        Disney; Pixar; FedEx; UPS"""),
    "food": items("""
        hummus; tofu; sushi; paella; risotto; gnocchi; lasagna; pesto; guacamole;
        ceviche; goulash; borscht; pierogi; haggis; croissants; baguettes;
        pretzels; sauerkraut; kimchi; miso soup; ramen; pho; pad thai; curry;
        naan; samosas; falafel; tzatziki; baklava; tiramisu; creme brulee;
        cheesecake; marzipan; gingerbread; ketchup; mayonnaise; mustard;
        soy sauce; Worcestershire sauce; tabasco sauce; yogurt; parmesan;
        mozzarella; feta cheese; gin; tequila; champagne; maple syrup"""),
    "ingredient": items("""
        avocado; quinoa; lentils; chickpeas; spinach; kale; broccoli; cauliflower;
        sweet potatoes; beetroot; garlic; ginger; turmeric; saffron; cinnamon;
        vanilla; nutmeg; cloves; cardamom; black pepper; olive oil; coconut oil;
        honey; almonds; walnuts; cashews; peanuts; brown rice; oats; barley;
        mango; papaya; pineapple; pomegranate; blueberries; cranberries; dates;
        figs; coffee beans; cocoa beans; black tea"""),
    "word": items("""
        ubiquitous; ephemeral; serendipity; ambiguous; pragmatic; altruistic;
        benevolent; candid; cynical; diligent; eloquent; empathy; frugal;
        gregarious; hypocrite; idiosyncrasy; inevitable; juxtaposition; lethargic;
        meticulous; nostalgia; obsolete; paradox; paradigm; plagiarism; quorum;
        rhetoric; sarcasm; scrutiny; stoic; tangible; trivial; ultimatum; utopia;
        vicarious; zeitgeist; schadenfreude; faux pas; bona fide; quid pro quo;
        status quo; ad hoc; pro bono; carpe diem; habeas corpus; deja vu"""),
    "idiom": items("""
        break a leg; bite the bullet; spill the beans; kick the bucket;
        raining cats and dogs; under the weather; once in a blue moon;
        a piece of cake; the whole nine yards; cost an arm and a leg;
        burn the midnight oil; let the cat out of the bag; hit the nail on the head;
        beat around the bush; back to square one; by the skin of your teeth;
        caught red-handed; cold feet; cold turkey; devil's advocate;
        dressed to the nines; eat humble pie; get off scot-free; mad as a hatter;
        pull someone's leg; read the riot act; red herring; saved by the bell;
        steal someone's thunder; the last straw; turn a blind eye; white elephant"""),
    "acronym": items("""
        NASA; NATO; UNESCO; FIFA; HTML; HTTP; URL; USB; PDF; GPS; LED; RAM; CPU;
        DNA; RNA; MRI; ATM; PIN; VIP; RSVP; ASAP; FAQ; SUV; UFO; CEO; GDP; IMF;
        OPEC; IKEA; LASER; RADAR; SCUBA; TASER; JPEG; SIM; VPN; OCD; ADHD; BMI;
        AM and PM; BC and AD"""),
    "law": items("""
        the first amendment; the second amendment; the fourth amendment;
        the fifth amendment; the eighth amendment; the tenth amendment;
        the thirteenth amendment; the fourteenth amendment;
        the fifteenth amendment; the eighteenth amendment;
        the nineteenth amendment; the twenty-fifth amendment;
        the Bill of Rights; the Magna Carta; the Treaty of Versailles;
        the Treaty of Westphalia; the Geneva Conventions; the Civil Rights Act;
        the Voting Rights Act; the Stamp Act; the Missouri Compromise;
        the Emancipation Proclamation; the Monroe Doctrine; the Truman Doctrine;
        the Marshall Plan; the New Deal; the Homestead Act; the Edict of Nantes;
        the Code of Hammurabi; the Kyoto Protocol"""),
    "faith": items("""
        Ramadan; Eid; Yom Kippur; Hanukkah; Passover; Rosh Hashanah; Diwali; Holi;
        Vesak; Lent; Ash Wednesday; Palm Sunday; Good Friday; Easter; Pentecost;
        Ascension Day; Corpus Christi; All Saints' Day; Advent; Epiphany; Purim;
        Sukkot; Chinese New Year; Candlemas; Michaelmas"""),
    "god": items("""
        Zeus; Hera; Poseidon; Hades; Athena; Apollo; Artemis; Ares; Aphrodite;
        Hermes; Dionysus; Hephaestus; Demeter; Persephone; Odin; Thor; Loki;
        Freya; Ra; Osiris; Isis; Anubis; Horus; Vishnu; Shiva; Ganesha; Kali;
        Quetzalcoatl; Jupiter; Minerva; Janus; Prometheus; Medusa; the Minotaur"""),
    "painting": items("""
        the Mona Lisa; the Last Supper; the Starry Night; the Scream; Guernica;
        Girl with a Pearl Earring; the Night Watch; the Birth of Venus; American
        Gothic; Las Meninas; the Kiss; Water Lilies; Sunflowers; Whistler's Mother;
        the Persistence of Memory; the Hay Wain; the Raft of the Medusa;
        Liberty Leading the People; Nighthawks; the School of Athens;
        the Garden of Earthly Delights; the Arnolfini Portrait"""),
    "music": items("""
        the Moonlight Sonata; the Four Seasons; the Magic Flute; Swan Lake;
        the Nutcracker; Carmen; Aida; La Traviata; Tosca; Madame Butterfly;
        the Barber of Seville; the Ring cycle; the Messiah; Rhapsody in Blue;
        Bolero; Clair de Lune; the Blue Danube; Pictures at an Exhibition;
        Peter and the Wolf; the Rite of Spring; the Planets; Carmina Burana;
        Peer Gynt; the New World symphony; Finlandia; Scheherazade"""),
    "game": items("""
        Monopoly; Scrabble; Clue; Risk; chess; checkers; backgammon; poker;
        blackjack; bridge; rummy; dominoes; mahjong; Catan; Jenga; Yahtzee; Uno;
        Tetris; Pac-Man; Super Mario Bros; Minecraft; The Sims; Donkey Kong;
        Space Invaders; Pong; Battleship; Trivial Pursuit; darts; billiards;
        croquet"""),
    "tech": items("""
        bluetooth; wifi; a router; a firewall; a vpn; blockchain; an IP address;
        cloud storage; a solid state drive; RAM; a graphics card; fiber optic
        internet; a touch screen; facial recognition; a QR code; an electric car;
        a hybrid engine; a heat pump; a solar panel; a wind turbine;
        a nuclear reactor; a lithium battery; a catalytic converter; a fuel cell;
        an induction cooktop; noise cancellation; a 3D printer; a smoke detector;
        a search engine; a quantum computer"""),
    "process": items("""
        photosynthesis; cellular respiration; osmosis; diffusion; mitosis; meiosis;
        fermentation; evaporation; condensation; sublimation; distillation;
        erosion; nuclear fission; nuclear fusion; radioactive decay; oxidation;
        natural selection; pollination; germination; metamorphosis; digestion;
        homeostasis; protein synthesis; the water cycle; the nitrogen cycle;
        the carbon cycle; plate tectonics; the greenhouse effect; refraction;
        electromagnetic induction"""),
    "difference": lines("""
        a crocodile and an alligator
        a frog and a toad
        a rabbit and a hare
        a moth and a butterfly
        a turtle and a tortoise
        a seal and a sea lion
        a donkey and a mule
        a bison and a buffalo
        a wasp and a hornet
        a raven and a crow
        a virus and bacteria
        a cold and the flu
        a sprain and a strain
        type 1 and type 2 diabetes
        an artery and a vein
        a tendon and a ligament
        DNA and RNA
        an atom and a molecule
        an element and a compound
        mass and weight
        speed and velocity
        heat and temperature
        fission and fusion
        AC and DC
        a comet and an asteroid
        a meteor and a meteorite
        a solar and a lunar eclipse
        weather and climate
        a hurricane and a typhoon
        magma and lava
        latitude and longitude
        England and Great Britain
        a republic and a democracy
        the Senate and the House of Representatives
        a felony and a misdemeanor
        civil law and common law
        a barrister and a solicitor
        libel and slander
        robbery and burglary
        a copyright and a trademark
        Catholic and Protestant
        Sunni and Shia
        a bishop and a cardinal
        affect and effect
        a simile and a metaphor
        who and whom
        i.e. and e.g.
        further and farther
        a violin and a viola
        a symphony and a concerto
        a mandolin and a banjo
        a latte and a cappuccino
        jam and jelly
        baking soda and baking powder
        sorbet and sherbet
        whiskey and bourbon
        a yam and a sweet potato
        cilantro and coriander
        brown sugar and white sugar
        stock and broth
        java and javascript
        RAM and ROM
        a modem and a router
        http and https
        LED and OLED
        petrol and diesel engines
        a stock and a bond
        a debit card and a credit card
        gross and net income
        inflation and deflation
        rugby union and rugby league
        a birdie and an eagle
        the Old and the New Testament
        the Big Bang and the Big Crunch
        stalactites and stalagmites
        gin and vodka"""),
    "count": lines("""
        bones are in the human body
        teeth does an adult human have
        muscles are in the human face
        chambers are in the human heart
        chromosomes do humans have
        ribs does a person have
        liters of blood are in the body
        players are on a baseball team
        players are on a rugby team
        players are on a volleyball team
        players are on a cricket team
        holes are on a golf course
        squares are on a chess board
        cards are in a deck of cards
        pieces does each player have in chess
        dots are on a pair of dice
        keys are on a piano
        strings are on a violin
        strings are on a harp
        lines are in a sonnet
        syllables are in a haiku
        letters are in the Greek alphabet
        letters are in the Russian alphabet
        books are in the Bible
        books are in the New Testament
        chapters are in the Quran
        countries are in Africa
        countries are in South America
        countries are in the European Union
        states are in Australia
        provinces are in Canada
        cantons are in Switzerland
        states are in Germany
        islands are in Hawaii
        time zones are in Russia
        stars are on the flag of China
        stars are on the flag of Australia
        stripes are on the American flag
        judges are on the Supreme Court
        senators are in the US Senate
        members are in the House of Commons
        members are in the German Bundestag
        planets are in the solar system
        moons does Jupiter have
        moons does Mars have
        elements are in the periodic table
        electrons does carbon have
        degrees are in a circle
        sides does a dodecagon have
        zeros are in a billion
        feet are in a mile
        ounces are in a pound
        teaspoons are in a tablespoon
        cups are in a gallon
        milliliters are in a pint
        bits are in a byte
        megabytes are in a gigabyte
        calories are in a banana
        calories are in an egg
        grams of sugar are in a can of coke
        legs does a spider have
        legs does a lobster have
        eyes does a bee have
        hearts does an octopus have
        stomachs does a cow have
        rings are in the Olympic flag
        Harry Potter books are there
        James Bond films are there
        Star Wars movies are there
        symphonies did Beethoven write
        plays did Shakespeare write
        wives did Henry VIII have
        people have walked on the moon
        weeks are in a year
        days are in a leap year
        steps are in the Eiffel Tower"""),
    "seasons": items("""
        Friends; Seinfeld; Breaking Bad; The Sopranos; The Wire; Mad Men; Lost;
        Game of Thrones; The Office; Downton Abbey; Sherlock; The Crown;
        Peaky Blinders; Scrubs; House; Gilmore Girls; Dexter; Homeland; Suits;
        Ozark; Vikings; Outlander; Veep; The Good Wife; Smallville"""),
    "office": items("""
        the president of France; the chancellor of Germany;
        the prime minister of Canada; the prime minister of Australia;
        the prime minister of Japan; the prime minister of India;
        the president of Brazil; the president of Mexico;
        the president of South Africa; the king of Spain; the queen of Denmark;
        the king of Norway; the king of Sweden; the emperor of Japan; the pope;
        the archbishop of Canterbury; the dalai lama;
        the secretary general of the United Nations;
        the secretary general of NATO; the speaker of the House;
        the chief justice of the United States; the vice president;
        the president of the European Commission; the mayor of London;
        the president of FIFA; the governor of the Bank of England"""),
    "superlative": lines("""
        the longest river in Europe
        the longest river in Asia
        the highest mountain in Africa
        the highest mountain in South America
        the highest mountain in the Alps
        the largest lake in Africa
        the deepest lake in the world
        the largest island in the Mediterranean
        the largest desert in Asia
        the smallest country in the world
        the smallest country in Africa
        the largest country in South America
        the most populated city in India
        the coldest place on earth
        the tallest building in Europe
        the longest bridge in the world
        the oldest university in the world
        the oldest city in the US
        the largest bone in the human body
        the largest organ in the human body
        the strongest muscle in the body
        the fastest land animal
        the fastest bird
        the heaviest snake in the world
        the largest species of bear
        the smallest mammal
        the tallest tree in the world
        the most poisonous frog
        the hardest natural substance
        the lightest metal
        the most abundant gas in the atmosphere
        the hottest planet
        the largest moon in the solar system
        the closest star to the sun
        the best selling album of all time
        the best selling book of all time
        the highest grossing movie of all time
        the longest running Broadway show
        the fastest goal in World Cup history
        the longest tennis match ever played
        the highest score in a football match
        the most spoken language in the world
        the longest word in English
        the most expensive painting ever sold
        the busiest airport in the world"""),
}

# --------------------------------------------------------------------------
# Templates
# --------------------------------------------------------------------------

TEMPLATES = lines("""
Who directed {film}?
Who wrote the music for {film}?
When did {film} come out?
Where was {film} filmed?
Who produced the movie {film}?
How long is the movie {film}?
How many Oscars did {film} win?
What is the main character's name in {film}?
Is {film} based on a true story?
What year is {film} set in?
How does the movie {film} end?
How much money did {film} make at the box office?
Who played the lead role in {film}?
Who sang the theme song of {series}?
When did the first season of {series} air?
How many seasons of {seasons} are there?
Who created the show {series}?
Where does {series} take place?
What happens in the last episode of {series}?
Where is the tv show {series} filmed?
When was the last episode of {series} shown?
Who played {role}?
Who plays {role}?
What is the name of the actor who played {role}?
What was {actor}'s first movie?
Has {actor} ever won an Oscar?
How old was {actor} in their first film?
Where was {actor} born?
Who was {actor} married to?
Who sang {song} first?
Who wrote the song {song}?
What is the song {song} about?
What year did {song} come out?
What album is {song} on?
Who played guitar on {song}?
What was {singer}'s first number one hit?
What is {singer}'s real name?
How many albums has {singer} sold?
Where did {singer} grow up?
What was the best selling album of {singer}?
Who was the lead singer of {band}?
How did {band} get their name?
When did {band} break up?
Who played drums in {band}?
What was the first album by {band}?
Where are {band} from?
Who wrote {book}?
When was {book} published?
What is the moral of {book}?
Where does {book} take place?
Who is the main character in {book}?
Who dies at the end of {book}?
What was the last book written by {author}?
Where is {author} buried?
What is {author} best known for?
When did {author} publish their first book?
What is the capital of {country}?
What currency is used in {country}?
What language is spoken in {country}?
What do the colors on the flag of {country} mean?
Which countries border {country}?
What is the population of {country}?
What is the highest mountain in {country}?
What is the national anthem of {country} called?
What is the main religion in {country}?
What is the national dish of {country}?
When did {colony} gain independence?
Who ruled {colony} before independence?
What river runs through {city}?
What is {city} famous for?
What is the name of the airport in {city}?
When was the city of {city} founded?
When did the first metro line in {city} open?
What time zone is {city} in?
What is the capital of {state}?
When did {state} become a state?
What is the state bird of {state}?
How many counties are in {state}?
Where does the name {state} come from?
Where does the {river} start?
How long is the {river} from source to mouth?
Which sea does the {river} flow into?
Which cities are on the {river}?
Who built {landmark}?
When was {landmark} built?
How big is {landmark}?
Why was {landmark} built?
Where is {landmark} located?
How long did it take to build {landmark}?
Where is {place} located?
How was {place} formed?
What is {place} known for?
What country does {place} belong to?
How long does the {animal} live in the wild?
What does the {animal} eat?
Where does the {animal} live?
What is a baby {animal} called?
How fast can the {animal} move?
Is the {animal} an endangered species?
What is the scientific name of the {animal}?
What are the first symptoms of {disease}?
What causes {disease}?
Is {disease} contagious?
Who discovered the cause of {disease}?
How is {disease} treated?
Can you die from {disease}?
What is the medical term for {disease}?
Where is the {organ} located in the body?
What is the main function of the {organ}?
What happens if the {organ} is damaged?
What is the chemical symbol for {element}?
Who discovered {element}?
What is {element} used for?
How many protons does {element} have?
What is the boiling point of {element}?
Where is {element} found in nature?
How far away is {planet} from the sun?
How big is {planet} compared to earth?
How long is a day on {planet}?
Is there water on {planet}?
Who invented the {invention}?
When was the {invention} invented?
Where was the first {invention} made?
What did people use before the {invention}?
What did {scientist} discover?
Where did {scientist} study?
When did {scientist} die?
What was {scientist} famous for?
Who was the vice president under {president}?
What political party did {president} belong to?
When was {president} born?
How old was {president} when he became president?
Which state was {president} from?
How did {ruler} die?
Who came to power after {ruler}?
When did {ruler} live?
Why was {ruler} important?
When did {war} start?
Who won {war}?
What was the main cause of {war}?
How many people died in {war}?
How did {war} end?
Which countries fought in {war}?
Who won the battle of {battle}?
When was the battle of {battle} fought?
Who was in command at the battle of {battle}?
When was the last time {usteam} won a championship?
What stadium do {usteam} play in?
Who is the all time leading scorer for {team}?
Who owns {team}?
When was {team} founded?
What are the colors of {team}?
Who has won the most games as coach of {usteam}?
What is {athlete} famous for?
How many titles did {athlete} win?
When did {athlete} retire?
How tall is {athlete}?
What records does {athlete} hold?
Who has won {event} the most times?
When was {event} first held?
Who was the first winner of {event}?
How much prize money does the winner of {event} get?
Who founded {company}?
Where are the headquarters of {company}?
What does the name {company} mean?
What is {company} best known for?
When did {company} go public?
How many people work for {company}?
What country is the home of {food}?
What are the ingredients of {food}?
Who invented {food}?
What goes well with {food}?
How do you store {ingredient}?
Where does the world get most of its {ingredient}?
What vitamins are in {ingredient}?
What is a good substitute for {ingredient}?
What does {word} mean?
What language does {word} come from?
What is a synonym for {word}?
How do you use {word} in a sentence?
Where does the saying {idiom} come from?
What does {idiom} mean?
What does {acronym} stand for?
What did {law} do?
When did {law} come into effect?
Why is {law} important?
Who wrote {law}?
Why is {faith} celebrated?
When does {faith} start this year?
What do people eat during {faith}?
What is the story of {god} in mythology?
Who were the parents of {god}?
What are the powers of {god}?
Who painted {painting}?
Where can you see {painting} today?
When was {painting} painted?
Who composed {music}?
When was {music} first performed?
What is {music} about?
Who invented {game}?
How many people can play {game}?
What are the rules of {game}?
How does {tech} work?
What are the disadvantages of {tech}?
What is {tech} used for?
What happens during {process}?
Where does {process} take place?
Why is {process} important?
Who first described {process}?
What is the difference between {difference}?
How can you tell the difference between {difference}?
How many {count}?
Who is {office}?
How is {office} chosen?
How long can someone be {office}?
What are the duties of {office}?
What is {superlative}?
""")

# --------------------------------------------------------------------------
# Single questions
# --------------------------------------------------------------------------

QUESTIONS = lines("""
Who was the first person to climb Mount Everest without oxygen?
Who was the first woman in space?
Why is the sky blue?
Why do leaves change color in the fall?
Why do cats purr?
Why do onions make you cry?
Why do we have leap years?
Why is the Dead Sea so salty?
Why did the Roman Empire fall?
Why do golf balls have dimples?
Why are school buses yellow in America?
Why are there 60 minutes in an hour?
Why do airplanes dim the lights for landing?
Why do men's and women's shirts button on opposite sides?
Why is the White House white?
Why did Britain leave the European Union?
Why is it called the Big Apple?
Why do bees dance?
Why is ice slippery?
Why do we yawn?
When did women get the right to vote in Switzerland?
When did the Berlin Wall come down?
When did the first McDonald's open in Moscow?
When was sliced bread first sold?
When did the euro become legal tender?
When was the last public execution in France?
When did color tv come to Britain?
When do the clocks go back in Europe?
When was the first email sent?
When did the Titanic wreck get found?
When was the last ice age?
When did the Soviet Union collapse?
When was the first heart transplant?
When did smoking get banned on planes?
When is the best time to see the northern lights?
When did Alaska join the United States?
When was the death penalty abolished in the UK?
When did the first Harry Potter book come out?
When did the dinosaurs die out?
When was the first text message sent?
Where did the black death start?
Where is the Mariana Trench?
Where do eels breed?
Where were the first Olympic games held?
Where is the Mona Lisa kept?
Where does the prime minister of the UK live?
Where do most tornadoes occur?
Where is the oldest pub in England?
Where did tulips originally come from?
Where is the headquarters of the Red Cross?
Where was Napoleon exiled?
Where is the rock of Gibraltar?
Where is the International Court of Justice?
Where was the Declaration of Independence signed?
Where do penguins live besides Antarctica?
Where are red blood cells made?
Where does chocolate come from?
Where is the world's largest library?
Where did the game of golf begin?
Where was the treaty that ended World War I signed?
Who shot Archduke Franz Ferdinand?
Who discovered the tomb of Tutankhamun?
Who designed the Guggenheim museum in Bilbao?
Who was the last tsar of Russia?
Who was the first emperor of China?
Who wrote the Communist Manifesto?
Who wrote the Canterbury Tales?
Who sang at the opening of the 1996 Olympics?
Who sings the theme from Goldfinger?
Who sang the Bond song Skyfall?
Who invented the alphabet for the blind?
Who was the youngest Wimbledon champion?
Who scored the winning goal in the 2010 World Cup final?
Who scored the hand of god goal?
Who holds the record for most home runs in a season?
Who has the most Grand Slam titles in men's tennis?
Who ran the first four minute mile?
Who was the first footballer sold for a million pounds?
Who won the first Super Bowl?
Who won the Nobel Peace Prize in 1964?
Who refused the Nobel Prize in literature?
Who was the voice of Darth Vader?
Who does the voice of Homer Simpson?
Who narrated the original March of the Penguins?
Who turned down the role of Neo?
Who was the oldest actor to play James Bond?
Who wrote the script for Good Will Hunting?
Who gave the Statue of Liberty to the US?
Who signs bills into law in the United States?
Who becomes president if the vice president dies?
Who can declare war in the US?
Who elects the pope?
Who is the patron saint of animals?
Who betrayed Jesus?
Who built the ark in the Bible?
Who is the head of the Church of England?
Who split from the Catholic church in 1517?
Who founded Buddhism?
Who translated the Bible into German?
Who wrote most of the letters in the New Testament?
What is the speed of light in miles per hour?
What is absolute zero in celsius?
What is the formula for kinetic energy?
What is the unit of electrical resistance?
What is the second law of thermodynamics?
What is dark matter?
What is the Higgs boson?
What is a light year?
What is the event horizon of a black hole?
What is the doppler effect?
What is Ohm's law?
What is the difference between a planet and a dwarf planet?
What is the chemical formula for table salt?
What is the pH of lemon juice?
What gas do plants give off?
What makes diamonds blue?
What is dry ice made of?
What metal is liquid at room temperature?
What is rust made of?
What is the main ingredient in glass?
What is the powerhouse of the cell?
What is the normal body temperature of a dog?
What blood type is the universal donor?
What vitamin do you get from sunlight?
What is a normal resting heart rate?
What is the smallest bone in the body?
What part of the brain controls balance?
What does the white blood cell count tell you?
What causes hiccups?
What causes high tide?
What causes static electricity?
What is the incubation period for the flu?
What happens if you take too much vitamin D?
What is a CT scan used for?
What is the pigment that makes skin dark?
What is the study of insects called?
What is the study of earthquakes called?
What is a group of crows called?
What is a female fox called?
What is the only mammal that can fly?
What animal has the longest pregnancy?
What bird can fly backwards?
What fish can live out of water?
What eats jellyfish?
What is the national animal of Scotland?
What is the name of the strait between Spain and Morocco?
What two countries share the longest border?
What countries start with the letter Z?
What is the old name of Istanbul?
What is the old name of Sri Lanka?
What ocean is Madagascar in?
What is the name of the desert in southern Africa?
What is the line at zero degrees longitude called?
What state has the longest coastline?
What US state has no counties?
What is the only state that borders one other state?
What is the name of Japan's parliament?
What is the name of the Irish parliament?
What is the supreme law of the land?
What are the three branches of government?
What is the minimum age to be a US senator?
What is a filibuster in the Senate?
What is a hung parliament?
What does the electoral college do?
What happens when a president is impeached?
What is the statute of limitations for theft?
What is double jeopardy in law?
What is the burden of proof in a criminal case?
What does it mean to plead no contest?
What rights are read to you when you are arrested?
What is the difference between bail and bond?
What is the legal drinking age in Germany?
What was the Boston Tea Party about?
What was the cause of the Great Depression?
What was the Manhattan Project?
What was the Gold Rush?
What was the name of the first satellite in space?
What was the name of Columbus's ships?
What was the name of Alexander the Great's horse?
What was the capital of the Inca Empire?
What was the first permanent English settlement in America?
What was the silk road used for?
What was the Rosetta Stone written in?
What was the code name for the D-Day landings?
What was the language of ancient Rome?
What was the first animal sent into orbit?
What was the first feature length animated film?
What was the first video played on MTV?
What was the Beatles' last album?
What was Elvis Presley's middle name?
What was the name of the ship in Moby-Dick?
What was the name of Dorothy's dog in The Wizard of Oz?
What is the name of the bar in Cheers?
What is the name of the coffee shop in Friends?
What is the name of the hotel in The Shining?
What is the name of the boat in Jaws?
What is the name of the whale in Pinocchio?
What is the name of the island in Jurassic Park?
What house does Hermione belong to at Hogwarts?
What kind of fish is Nemo?
What color pill does Neo take?
What song plays at the end of Fight Club?
What song did Whitney Houston sing in The Bodyguard?
What key is Pachelbel's Canon in?
What instrument did Louis Armstrong play?
What does allegro mean in music?
What does pianissimo mean?
What is the highest female singing voice?
What is the lowest string on a guitar?
What is the offside rule in soccer?
What is a hat trick in hockey?
What is a perfect game in bowling?
What is a triple double in basketball?
What is the distance of a marathon in kilometers?
What is the height of a basketball hoop?
What is the diameter of a golf hole?
What is the maximum break in snooker?
What color jersey does the leader of the Tour de France wear?
What country has won the most World Cups?
What country invented table tennis?
What is the national sport of Canada?
What martial art comes from Brazil?
What is the oldest trophy in international sport?
What is the most common last name in Spain?
What is the most common blood type?
What is the largest religion in the world?
What is the holy book of Sikhism?
What is the first commandment?
What is the last book of the Old Testament?
What are the five pillars of Islam?
What are the seven deadly sins?
What are the seven wonders of the ancient world?
What are the three states of matter?
What are the primary colors of light?
What are the ingredients of a Caesar salad?
What is the main ingredient in guacamole?
What is in a Bloody Mary?
What is the difference between a tangerine and a clementine?
What type of pasta is shaped like a bow tie?
What kind of cheese goes on a Greek salad?
What is the spiciest pepper in the world?
What is the most expensive spice?
What nut is used to make marzipan?
What part of the plant is ginger?
What is gluten found in?
What temperature should chicken be cooked to?
What does al dente mean?
What does umami taste like?
What does the prefix anti mean?
What does the suffix ology mean?
What does the rosary symbolize?
What does a yellow card mean in soccer?
What does a barometer measure?
What does a geologist study?
What does the thyroid hormone do?
What does the check engine light mean?
What does the i in iPhone stand for?
What does etc stand for?
Where does the word algebra come from?
What is the plural of octopus?
What is the past tense of swim?
What is an oxymoron?
What is a palindrome?
What is the longest poem ever written?
What is the hardest language to learn?
What language do they speak in Brazil?
What language has the most native speakers?
What alphabet is used in Bulgaria?
What was the first computer virus called?
What was the first programming language?
What is an operating system?
What is the binary number system?
What is machine learning?
What year did the first iPhone come out?
What year did Windows 95 launch?
What company made the first cell phone?
How does a microwave heat food?
How does a vaccine work?
How does anesthesia work?
How do fish breathe under water?
How do birds know where to migrate?
How do noise cancelling headphones work?
How do you say thank you in Japanese?
How do you calculate the area of a circle?
How do you convert fahrenheit to celsius?
How do you get a patent?
How do submarines sink and rise?
How is cheese made?
How is paper recycled?
How is the date of Easter determined?
How is a Supreme Court justice appointed?
How old is the universe?
How old do you have to be to rent a car?
How old was Mozart when he died?
How deep is the Pacific Ocean?
How hot is the surface of the sun?
How far is it from the earth to the moon?
How tall is the Matterhorn?
How long does it take to fly from London to New York?
How long did the Hundred Years' War last?
How long does it take to digest food?
How long is a term in the House of Representatives?
How long can a camel go without water?
How long do you boil a soft egg?
How much does a liter of water weigh?
How much caffeine is in a cup of tea?
How much of the earth is covered by water?
How much did the US pay for Alaska?
How often does Halley's comet appear?
How often do you need a tetanus shot?
How fast does sound travel?
How big is a football field in acres?
Which planet has the shortest day?
Which country has the most volcanoes?
Which countries are in Scandinavia?
Which country drinks the most coffee?
Which king signed the Magna Carta?
Which British queen reigned for nine days?
Which American president served the shortest term?
Which side of the road do they drive on in Thailand?
Which way does water spin in Australia?
Which is bigger, the Earth or Venus?
Which actor has played Batman the most?
Which band member of Queen wrote Radio Ga Ga?
Which Beatle was left-handed?
Which city hosted the 1992 Summer Olympics?
Which team has lost the most Super Bowls?
Which organ produces insulin?
Which vitamin helps blood to clot?
Which metal conducts electricity best?
Which came first, the fork or the spoon?
Which language is closest to English?
Can you see the Great Wall from space?
Can dogs eat grapes?
Do sharks have bones?
Do bananas grow on trees?
Is a tomato a fruit or a vegetable?
Is Pluto still a planet?
Is Greenland part of Denmark?
Is glass a liquid or a solid?
Are bats blind?
Are all snakes deaf?
Did Vikings really wear horned helmets?
Did Einstein fail math?
Was Cleopatra Egyptian or Greek?
Was Robin Hood a real person?
Does hot water freeze faster than cold water?
Does Switzerland have an army?
""")

# --------------------------------------------------------------------------
# Generation
# --------------------------------------------------------------------------

SLOT = re.compile(r"\{([a-z]+)\}")


def fillings(template):
    """Return every question that a template can give."""
    kinds = SLOT.findall(template)
    questions = []
    for values in itertools.product(*(SLOTS[kind] for kind in kinds)):
        remaining = iter(values)
        question = SLOT.sub(lambda match: next(remaining), template)
        questions.append(question.replace("s's ", "s' "))
    return questions


def typed(question, rng):
    """Write a question the way a hurried person might type it."""
    style = rng.random()
    if style < 0.45:
        return question[0] + question[1:].lower()
    if style < 0.75:
        return question.lower()
    return question


def prompts(seed: int, count: int) -> list[str]:
    """Return `count` distinct prompts, the same ones for the same seed."""
    rng = random.Random(seed)
    chosen = rng.sample(QUESTIONS, min(len(QUESTIONS), count // 4))
    seen = {question.lower() for question in chosen}
    pools = []
    for template in TEMPLATES:
        pool = fillings(template)
        rng.shuffle(pool)
        pools.append(pool)
    while len(chosen) < count:
        pools = [pool for pool in pools if pool]
        if not pools:
            raise ValueError(f"only {len(chosen)} distinct prompts available")
        rng.shuffle(pools)
        for pool in pools[:count - len(chosen)]:
            question = pool.pop()
            if question.lower() not in seen:
                seen.add(question.lower())
                chosen.append(question)
    rng.shuffle(chosen)
    return [typed(question, rng) for question in chosen]
