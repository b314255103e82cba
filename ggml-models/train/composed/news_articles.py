"""Summarization prompts in the style of British and American news sites.

`prompts(seed, count)` returns distinct prompts `Summarize: <article>`, each a
paragraph of 120 to 420 words. Articles come from handwritten templates; about
a sixth of the prompts join two shortened articles.

A template is a block of lines, separated from the next one by a blank line:

    # uk title      heading: region of the article (uk, us or any) and a title
    @name: a | b    slot with values of its own, one of them for the article
    text            sentence that is always kept, in this place
    ? text          sentence that is sometimes left out
    ~ text          like `?`, and neighbouring `~` lines change places

Inside a sentence, `{a|b}` picks an alternative, anew each time. Slots keep
one value for the whole article: `[town]`, `[town2]` (another town),
`[n1:20-90]` and `[n1:100-900/50]` (numbers; afterwards just `[n1]`; labels
with `w` spell out small numbers, labels with `y` are years), and people:
`[p1]` (surname), `[p1.full]`, `[p1.first]`, `[p1.age]`, `[p1.he]`, ...
People `m1` are male, `f1` female and `p1` either.
"""

import random
import re

from composed import news_articles_crime, news_articles_life, news_articles_science, news_articles_sport

PREFIX = "Summarize: "
MIN_WORDS, MAX_WORDS = 120, 420
JOINED_SHARE = 1 / 6


def words(text):
    """Split a whitespace-separated list of one-word entries."""
    return text.split()


def items(text):
    """Split a comma-separated list."""
    return [" ".join(item.split()) for item in text.split(",")]


# --------------------------------------------------------------------------
# Slot values
# --------------------------------------------------------------------------

MALE_FIRST = words("""
Aaron Adam Adrian Alan Alastair Andre Anthony Ben Bradley Brian Callum Carl
Charlie Christopher Colin Connor Craig Curtis Damien Daniel Darren Declan Dean
Derek Dominic Douglas Dylan Edward Elliot Ethan Finlay Gareth Gavin George
Graham Harvey Hassan Ian Isaac Jack Jamal Jason Joel Jordan Keith Kieran Kyle
Lee Leon Lewis Liam Luke Malcolm Marcus Martin Mohammed Nathan Neil Oliver
Owen Patrick Philip Rafael Raj Reece Rhys Ricardo Robert Ross Russell Ryan
Scott Sean Simon Stephen Stuart Terence Toby Trevor Tyler Vincent Wayne""")

FEMALE_FIRST = words("""
Abigail Aisha Alice Alison Amanda Amelia Amy Angela Anita Annabel Bethany
Brenda Caitlin Carly Carol Charlotte Chloe Claire Danielle Dawn Deborah Diane
Donna Eleanor Elizabeth Ellie Emily Emma Fiona Gabriela Gemma Georgina Grace
Hannah Hayley Heather Helen Holly Imogen Isabel Jasmine Jenna Jennifer Jessica
Joanne Josie Karen Kate Kayleigh Kelly Kirsty Latoya Laura Leanne Lindsey
Louise Lucy Margaret Maria Megan Melissa Michelle Monica Natalie Nicola Nina
Olivia Pamela Patricia Paula Priya Rachel Rebecca Rosie Ruth Samantha Sandra
Sarah Shannon Sheila Sophie Stacey Stephanie Tanya Teresa Vanessa Victoria""")

LAST = words("""
Abbott Ainsworth Akhtar Alderton Arkwright Ashdown Bannerman Barlow Beckford
Bellamy Birchall Blackwell Bradshaw Brennan Brockway Calloway Cartwright
Castillo Chadwick Chaudhry Clegg Coleman Cordell Corrigan Crabtree Crawshaw
Dalton Delgado Denholm Dempsey Donnelly Drummond Eastwick Ellison Fairchild
Farrell Fenwick Fitzroy Flanagan Fletcher Gallagher Garrity Goddard Grainger
Greenhalgh Haddow Hallam Hargreave Harrington Hartnell Hathaway Hendry Hewitt
Holloway Hurley Ibrahim Ingram Jarrett Kapoor Keane Kendrick Kirkbride Lambert
Langford Lockwood Lombardi Loxley Maddox Mahmood Marlowe McAllister McBride
McCready McKinley Mercer Merrick Montoya Moreland Naylor Newbold Nkemelu
O'Driscoll O'Halloran Okafor Oakley Ortega Osborne Pacheco Parkinson Patel
Pemberton Pickering Prescott Quigley Radcliffe Ramsden Redfern Ridley Rosario
Rutherford Salter Sanderson Schofield Selby Shelton Sinclair Skelton Stanhope
Stockdale Sutcliffe Tanner Thackeray Thornton Tillman Tomlinson Trevino
Underhill Vickery Wainwright Wakefield Warburton Weatherby Whitaker Whitlock
Winslow Woodruff Yardley Zielinski""")

SLOTS = {
    "town": {
        "uk": items("""Accrington, Aylesbury, Banbury, Barnsley, Basildon,
            Bedford, Blackburn, Bolton, Bournemouth, Bridgwater, Burnley,
            Cannock, Carlisle, Chelmsford, Chesterfield, Colchester, Crewe,
            Darlington, Doncaster, Dudley, Eastbourne, Exeter, Folkestone,
            Gloucester, Grantham, Grimsby, Halifax, Harlow, Hartlepool,
            Hereford, Huddersfield, Ipswich, Kettering, Kidderminster,
            Lowestoft, Luton, Maidstone, Mansfield, Newport, Northampton,
            Nuneaton, Oldham, Paisley, Perth, Peterborough, Plymouth, Preston,
            Redditch, Rochdale, Rugby, Salisbury, Scarborough, Shrewsbury,
            Southport, Stafford, Stockport, Swansea, Swindon, Taunton,
            Telford, Torquay, Wigan, Worcester, Wrexham, Yeovil"""),
        "us": items("""Abilene, Akron, Albany, Amarillo, Asheville, Augusta,
            Bakersfield, Bangor, Beaumont, Billings, Boise, Boulder, Canton,
            Cedar Rapids, Chattanooga, Clarksville, Dayton, Duluth, El Paso,
            Erie, Eugene, Evansville, Fargo, Flagstaff, Fort Wayne, Fresno,
            Grand Rapids, Greensboro, Hartford, Huntsville, Knoxville,
            Lansing, Laredo, Lexington, Lubbock, Macon, Mobile, Modesto,
            Omaha, Pensacola, Peoria, Pueblo, Reno, Roanoke, Rochester,
            Rockford, Sacramento, Santa Rosa, Savannah, Scranton, Shreveport,
            Spokane, Springfield, Stockton, Syracuse, Tacoma, Tallahassee,
            Toledo, Topeka, Tucson, Tulsa, Waco, Wichita, Wilmington"""),
    },
    "county": {
        "uk": items("""Bedfordshire, Berkshire, Buckinghamshire,
            Cambridgeshire, Cheshire, Cornwall, Cumbria, Derbyshire, Devon,
            Dorset, County Durham, East Sussex, Essex, Gloucestershire,
            Hampshire, Herefordshire, Hertfordshire, Kent, Lancashire,
            Leicestershire, Lincolnshire, Norfolk, North Yorkshire,
            Northumberland, Nottinghamshire, Oxfordshire, Shropshire,
            Somerset, South Wales, Staffordshire, Suffolk, Surrey,
            Warwickshire, West Sussex, Wiltshire, Worcestershire"""),
        "us": items("""Alabama, Arizona, Arkansas, California, Colorado,
            Connecticut, Florida, Georgia, Idaho, Illinois, Indiana, Iowa,
            Kansas, Kentucky, Louisiana, Maine, Maryland, Massachusetts,
            Michigan, Minnesota, Mississippi, Missouri, Montana, Nebraska,
            Nevada, New Hampshire, New Mexico, North Carolina, Ohio, Oklahoma,
            Oregon, Pennsylvania, South Carolina, Tennessee, Texas, Utah,
            Vermont, Virginia, Washington state, Wisconsin"""),
    },
    "street": {
        "uk": items("""Albert Road, Ashfield Road, Bath Street, Beech Avenue,
            Canal Street, Castle Street, Church Lane, Clifton Road, Copper Beech
            Road, Elm Grove, Foundry Lane, George Street, Hawthorn
            Drive, High Street, Holly Bank, King Street, Lime Tree Avenue,
            London Road, Manor Way, Market Place, Mill Lane, Newtown Road, Oak
            Crescent, Park Row, Priory Close, Queensway, Railway Terrace,
            Station Road, Union Street, Victoria Road, Wellington Street,
            Windmill Hill"""),
        "us": items("""Ashland Avenue, Bayview Drive, Broadway, Cedar Street,
            Chestnut Avenue, Clinton Street, Dogwood Lane, East 14th Street,
            Elm Street, Fairmont Avenue, Franklin Street, Grant Avenue,
            Hickory Lane, Highland Avenue, Jefferson Street, Juniper Drive,
            Lakeshore Boulevard, Lincoln Avenue, Magnolia Street, Main Street,
            Maple Avenue, Market Street, Mission Road, Oak Hill Road, Pine
            Street, River Road, Sunset Boulevard, Sycamore Drive, Walnut
            Street, Washington Street, West 9th Avenue, Willow Creek Road"""),
    },
    "university": {
        "uk": items("""Brackley University, the University of Ashbourne, the
            University of Calderdale, Castlegate University, the University
            of Deanshire, Eastmoor University, the University of Fenland,
            Glenmore University, Harbourne University, the University of
            Kelsall, Langdale University, the University of Mercia, Northgate
            University, the University of Penrose, Queensferry University,
            Ravensmoor University, the University of Solway, the University
            of Thameside, Wansbeck University, the University of Wyvern,
            Weald University, the University of the Marches, Humberside
            College London, Kingsbridge College London, the Wessex Institute
            of Health"""),
        "us": items("""Alder State University, the University of Bridgewater,
            Calloway State University, Carrick University, the University of
            Eastern Plains, Dunmore College, Fairhaven State University, the
            University of Great Lakes, Hollis University, the University of
            Lakemont, Lindenwald State University, the University of North
            Ridge, Mesa Valley State University, Marchbanks University, the
            University of Ocean County, Pinecrest University, Prairie State
            University, the University of Red River, Sierra Vista State
            University, Stonebridge University, Tidewater State University,
            the University of West Hollow, Whitfield Medical College, the
            Blue Ridge Institute of Technology, Harlan University"""),
    },
    "hospital": {
        "uk": items("""Ashcombe General Hospital, Calder Royal Infirmary,
            Queen Adelaide Hospital, St Bride's Hospital, St Oswin's Hospital,
            the Princess Alice Hospital, Thornbury District Hospital, Moorgate
            Children's Hospital, the Royal Wharfedale Infirmary, Harefield
            Park Hospital, Fairlawn Hospital, Castle Hill General Hospital,
            St Hilda's Hospital, Broadoak Hospital, the Duchess of Wessex
            Hospital, Northmoor Infirmary, Eastgate General Hospital, Lea
            Valley Hospital, King Edmund Hospital, Southdown Hospital,
            Whitestone Hospital, Westbrook Royal Hospital, Trent Bank
            Hospital, Wyre Park Hospital, Elmhurst General Hospital"""),
        "us": items("""Mercy Ridge Medical Center, St. Brendan's Hospital,
            Lakeview Regional Medical Center, Cedar Grove Hospital, Good
            Shepherd Medical Center, Pine Valley Hospital, Harbor Point
            Medical Center, St. Monica's Hospital, Oakwood Memorial Hospital,
            Union County Medical Center, Riverbend Regional Hospital, Prairie
            View Hospital, Sacred Cross Hospital, Valley Presbyterian Medical
            Center, Bayfront Children's Hospital, Three Rivers Hospital,
            Sunrise Memorial Hospital, Highland Park Medical Center, Northside
            Children's Hospital, Desert Springs Memorial, Magnolia Regional
            Hospital, Twin Falls Medical Center, Carver Memorial Hospital,
            Foothills Medical Center, Ridgeline Hospital"""),
    },
    "school": {
        "uk": items("""Ashlands Primary School, Beechwood Academy, Brookvale
            High School, Castle Park School, Chantry Academy, Cloverfield
            Primary School, Deepdale Academy, Eastfield Primary School, Elm
            Park Academy, Fernhill School, Greenbank High School, Hilltop
            Primary School, Holy Cross Primary School, Kingsmead Academy,
            Larkfield School, Meadowbank Primary School, Millbrook Academy,
            Northcliffe School, Oakfield Academy, Parkside Primary School,
            Ridgeway School, St Aidan's High School, St Winifred's Primary
            School, Thornhill Academy, Woodlea Primary School"""),
        "us": items("""Arrowhead High School, Bayside Middle School, Bluebonnet
            Elementary School, Canyon View High School, Cedar Hill Elementary
            School, Clearwater Middle School, Crestview High School, Eagle
            Rock High School, Eastlake High School, Forest Glen Elementary
            School, Granite Falls High School, Heritage Middle School, Horizon
            High School, Lakewood Elementary School, Lincoln Park High School,
            Meadowlark Elementary School, North Fork High School, Oak Ridge
            Middle School, Pioneer High School, Prairie Creek Elementary
            School, Rolling Hills High School, Sandstone Middle School,
            Timberline High School, Valley Forge Elementary School, West Bluff
            High School"""),
    },
    "club": items("""Alderwick Town, Ashborough United, Barrowfield Athletic,
        Beckhampton, Brackenhurst Rovers, Brightmoor Albion, Calverton City,
        Carnforth Wanderers, Castlebridge United, Chalfont Park Rangers,
        Coldstream Athletic, Crossmoor Town, Dalewood, Denby Vale, Eastleigh
        Rovers, Elmbridge City, Fairhurst County, Fernley Town, Glenavon
        United, Gorton Villa, Hallamshire, Harwick Rovers, Hexton Athletic,
        Holmfield, Ironbridge United, Kelham City, Kingswell Town, Langport
        Albion, Loxbury, Marsden Park, Medway Rangers, Millgate, Netherby
        Town, Northmoor United, Oakhampton, Pendle Forest, Penmouth Argyle,
        Redmarsh, Rosehill Thistle, Saltburn Athletic, Seaford Harriers,
        Stoneleigh City, Thornaby Villa, Trentside, Walbrook United,
        Waterford Vale, Westmere Wanderers, Whitcliffe, Wyvern Town"""),
    "team": items("""Akron Hawks, Albany Lancers, Austin Outlaws, Baltimore
        Mariners, Boise Timberwolves, Boston Pilgrims, Charlotte Copperheads,
        Chicago Blaze, Cincinnati Rivermen, Columbus Aviators, Dallas
        Longhorns, Dayton Flyers, Denver Summit, Des Moines Plainsmen,
        Detroit Engines, Fresno Firebirds, Hartford Colonials, Houston
        Comets, Indianapolis Racers, Kansas City Scouts, Las Vegas Aces High,
        Louisville Thoroughbreds, Memphis Kings, Miami Stingrays, Milwaukee
        Badgers, Minneapolis Frost, Nashville Strummers, New Orleans
        Privateers, Oakland Tritons, Oklahoma City Riders, Omaha Stockmen,
        Orlando Suns, Philadelphia Founders, Phoenix Scorpions, Pittsburgh
        Forge, Portland Lumberjacks, Providence Anchors, Raleigh Ramblers,
        Sacramento Miners, San Antonio Mavens, San Diego Admirals, Seattle
        Orcas, St. Louis Archers, Tampa Barracudas, Tucson Coyotes"""),
}

SLOTS.update({
    "company": items("""Aldgate Foods, Amberline, Arkwell, Axiom Retail,
        Beacon Mobile, Blackthorn Energy, Bluestone Homes, Brightwater,
        Cascade Motors, Castleford Brewing, Cobalt Systems, Corvane, Crestline
        Insurance, Delphine Foods, Dunmore Steel, Eastbrook Media, Evergreen
        Logistics, Fairmile Group, Fortis Air, Glenhaven, Granary & Co,
        Halcyon Pharma, Harborview Capital, Helios Power, Hollins Retail,
        Ironwood Partners, Juniper Telecom, Keystone Freight, Lanyard
        Software, Larkspur Hotels, Meridian Rail, Milestone Bank, Northfield
        Dairies, Novalink, Oakhurst, Orchard Lane, Palisade, Pinnacle Leisure,
        Quartermaster Stores, Redwood Robotics, Riverstone Water, Silverbirch,
        Skyward Airlines, Solent Shipping, Stonegate Mutual, Tamarack,
        Tideway Electronics, Verity Health, Westcliff Foods, Zephyr Labs"""),
    "country": items("""Argentina, Australia, Austria, Bangladesh, Belgium,
        Brazil, Bulgaria, Canada, Chile, Colombia, Croatia, Cyprus, Denmark,
        Ecuador, Egypt, Finland, France, Germany, Ghana, Greece, Hungary,
        Iceland, India, Indonesia, Ireland, Italy, Japan, Jordan, Kenya,
        Malaysia, Malta, Mexico, Morocco, Nepal, New Zealand, Norway, Peru,
        Poland, Portugal, Romania, Senegal, South Africa, South Korea, Spain,
        Sweden, Switzerland, Tanzania, Thailand, Tunisia, Turkey, Uganda,
        Vietnam, Zambia"""),
    "city": items("""Amsterdam, Athens, Auckland, Bangkok, Barcelona, Beijing,
        Berlin, Brisbane, Brussels, Budapest, Buenos Aires, Cairo, Cape Town,
        Copenhagen, Delhi, Dubai, Dublin, Geneva, Hong Kong, Istanbul,
        Jakarta, Lima, Lisbon, Madrid, Manila, Melbourne, Mexico City, Milan,
        Montreal, Mumbai, Munich, Nairobi, Oslo, Paris, Prague, Rome,
        Santiago, Seoul, Shanghai, Singapore, Stockholm, Sydney, Tokyo,
        Toronto, Vancouver, Vienna, Warsaw, Zurich"""),
    "month": words("""January February March April May June July August
        September October November December"""),
    "weekday": words("""Monday Tuesday Wednesday Thursday Friday Saturday
        Sunday"""),
    "party": {"uk": words("Labour Conservative"),
              "us": words("Republican Democratic")},
    "job": items("""accountant, baker, bank clerk, bricklayer, bus driver, car
        salesman, care worker, carpenter, chef, civil servant, teaching
        assistant, dental nurse, electrician, property agent, factory worker,
        firefighter, florist, gardener, graphic designer, hairdresser, IT
        consultant, librarian, delivery driver, mechanic, midwife, music teacher,
        nurse, office manager, paramedic, personal trainer, photographer,
        physiotherapist, plumber, postal worker, science teacher,
        receptionist, roofer, security guard, shop manager, social worker,
        software engineer, surveyor, taxi driver, warehouse worker, web
        designer"""),
    "breed": items("""beagle, border collie, border terrier, boxer, chihuahua,
        cocker spaniel, collie cross, corgi, dachshund, Dalmatian, English
        setter, German shepherd, golden retriever, Great Dane, greyhound,
        husky, Irish setter, Jack Russell, Labrador, labradoodle, lurcher,
        miniature schnauzer, Newfoundland, Old English sheepdog, pointer,
        poodle, pug, rottweiler, St Bernard, Staffordshire bull terrier,
        springer spaniel, whippet"""),
    "pet": words("""Alfie Archie Bailey Barney Bear Bella Biscuit Bonnie
        Buddy Buster Charlie Coco Daisy Dexter Dolly Duke Fudge Ginger Gizmo
        Hercules Honey Jasper Lola Lottie Lucky Marley Maxwell Milo Monty
        Mowgli Oreo Oscar Patch Pepper Pickle Poppy Ralph Rocky Rolo Rosie
        Rufus Sandy Scout Smudge Teddy Toffee Truffle Waffle Ziggy"""),
    "wild": items("""badger, barn owl, beaver, black bear, bobcat, buzzard,
        capybara, cheetah, crocodile, flamingo, giant tortoise, giraffe, seal,
        hedgehog, humpback whale, iguana, kangaroo, koala, leopard,
        lynx, meerkat, mountain lion, osprey, otter, peregrine falcon,
        porcupine, puma, python, raccoon, red panda, roe deer, sea lion,
        snowy owl, tapir, tiger, wallaby, wild boar, wolf"""),
    "food": items("""almonds, avocados, beetroot juice, berries, black tea,
        blueberries, broccoli, brown rice, cheese, chickpeas, cinnamon,
        coffee, cranberry juice, dark chocolate, eggs, garlic, ginger, green
        tea, kale, lentils, mushrooms, oily fish, olive oil, onions, oranges,
        peanuts, pomegranates, porridge, red grapes, salmon, seaweed, soya
        beans, spinach, sweet potatoes, tomatoes, turmeric, walnuts,
        watermelon, wholegrain bread, yoghurt"""),
    "illness": items("""Alzheimer's disease, asthma, bowel cancer, breast
        cancer, chronic back pain, clinical depression, coeliac disease,
        dementia, eczema, epilepsy, gout, heart disease, heart failure, high
        blood pressure, kidney disease, liver disease, lung cancer, migraine,
        multiple sclerosis, osteoporosis, Parkinson's disease, pneumonia,
        prostate cancer, psoriasis, rheumatoid arthritis, skin cancer, stroke,
        type 2 diabetes"""),
    "journal": items("""Advances in Human Health, Annals of Public Medicine,
        Archives of Ageing, Behaviour and Society, Cell Frontiers, Current
        Ecology, Clinical Nutrition Letters, Earth and Climate Letters,
        European Review of Medicine, Global Health Reports, Heart and Vessel,
        International Journal of Prevention, Journal of Applied Neurology,
        Journal of Child Development, Journal of Lifestyle Medicine, Marine
        Research Letters, Mind and Brain, Natural History Review, Open
        Biology Reports, Planetary Science Today, Psychology Quarterly, Public
        Health Review, Royal Review of Biology, Science Bulletin, Sleep
        Research Letters"""),
    "charity": items("""Age Forward, Animal Haven, Bright Horizons, the
        Brightside Trust, Children's Hope Fund, Clean Seas Action, the
        Compass Foundation, Coastwatch, the Family Lifeline, First Step, the
        Green Future Alliance, the Harbour Trust, Heart Matters, Helping
        Hands, Home Again, the Lantern Project, Little Wonders, the Mariners'
        Fund, Mind Matters, New Leaf, Open Door, the Patients' Voice, Paws for
        Life, the Rainbow Appeal, Road Safe, Safe Streets, Second Chance, the
        Stepping Stones Trust, the Sunflower Fund, Together for Carers, the
        Wildlife Guardians"""),
    "show": items("""Ballroom Nights, Beacon Hill, The Bake Tent, Bright
        Lights, Castle Square, Cold Harbour, Dancing Under Pressure, Dead
        Reckoning, The Family Table, Fallen Kings, Fame Academy Live, Harbour
        Lights, House of Glass, The Jury Room, Kitchen Wars, The Last Border,
        Lost Valley, Midnight Shift, Northern Line, Ocean Drive, Pop Stage,
        The Quiet Hour, Red Letter Day, River City General, Saturday Spotlight,
        The Singing Bee, Stranded, Summer House, Talent Factory, The Tenants,
        Under the Hammer, Ward Seven, The Winter Crown, Wild at Home"""),
    "film": items("""After the Harvest, All the Quiet Roads, Ashes of Summer,
        The Astronomer's Wife, A Better Liar, Black Tide, The Clockmaker,
        Crimson Sky, The Distant Shore, Eleven Days in June, Empire of Salt,
        The Glass Orchard, Hollow Crown Street, The Iron Season, Kingfisher,
        The Last Lighthouse, Letters to Rosa, Midnight in Tangier, The Night
        Ferry, No Way Home Again, Paper Soldiers, The Piano Tuner, Redemption
        Point, Saints of Brooklyn, Silent Running Water, Starfall, The Storm
        Collector, Thunder Valley, Two for Joy, The Unmarked Grave, Vanishing
        Act, Winterland"""),
    "gadget": items("""fitness tracker, smart watch, tablet computer, foldable
        smartphone, wireless speaker, virtual reality headset, electric
        scooter, home robot, video doorbell, games console, drone, smart
        thermostat, laptop, e-reader, pair of smart glasses, electric bike,
        3D printer, dash camera, noise-cancelling headset, smart fridge"""),
    "app": items("""Chatterbox, Clipzone, Dashmate, Findr, Flickerly, FriendBox,
        Glimpse, Hopscotch, Huddlr, Kindling, Loopcast, Mapster, MoodPad,
        Nearby, Pinglet, PocketDoc, Quickpay, Ridely, ShareNest, SnapStory,
        Sparkchat, Stridewise, Swaply, TaskBee, Tunely, Whisperline, Yapper,
        ZipMeet"""),
    "storm": words("""Agnes Barra Callum Deirdre Eunice Fergus Gertrude Hector
        Imogen Jonas Katie Lorenzo Marguerite Nestor Odette Percival Quentin
        Rosalind Sebastian Tabitha Ursula Vaughn Winifred"""),
    "airline": items("""AirMeridian, Albion Airways, Atlantic Star, Blue Wing,
        CloudJet, Continental Sky, Eurolink, FlyNorth, Gulfwind, Horizon Air
        Express, JetSouth, Lakeland Air, Nordica, Pacific Crown, RoyalSky,
        Sunhopper, TransEuropa, Vistair, Westward Air, Zenith
        Airways"""),
    "resort": items("""Agadir, Albufeira, Antalya, Ayia Napa, Benidorm, Bodrum,
        Cancun, Corfu, Costa Rica, Crete, Fuerteventura, Goa, Gran Canaria,
        Ibiza, Jamaica, Kos, Lanzarote, Majorca, Malta, Marbella, Menorca,
        Mykonos, Phuket, Punta Cana, Rhodes, Sardinia, Sicily, Tenerife, the
        Algarve, the Bahamas, the Maldives, Zante"""),
    "treasure": items("""a gold Viking brooch, a hoard of Roman coins, a
        Bronze Age spearhead, a medieval gold ring, a silver Saxon pendant, a
        jewelled Tudor hat pin, a Roman mosaic, an Iron Age torc, a lead
        coffin, a Saxon sword, a bronze statue of Mercury, a set of Georgian
        silver spoons"""),
    "instrument": words("""guitar piano violin cello trumpet saxophone
        clarinet accordion flute harp ukulele drums"""),
    "body": words("arm leg ankle wrist shoulder hip elbow collarbone knee"),
})

PRONOUNS = {
    "male": dict(he="he", him="him", his="his", himself="himself", man="man",
                 boy="boy", title="Mr", father="father", son="son",
                 husband="husband", spouse="wife", brother="brother", dad="dad",
                 actor="actor", spokesman="spokesman", businessman="businessman",
                 grandfather="grandfather", chairman="chairman"),
    "female": dict(he="she", him="her", his="her", himself="herself",
                   man="woman", boy="girl", title="Ms", father="mother",
                   son="daughter", husband="wife", spouse="husband",
                   brother="sister", dad="[mum]", actor="actress",
                   spokesman="spokeswoman", businessman="businesswoman",
                   grandfather="grandmother", chairman="chairwoman"),
}
REGIONAL = {"uk": dict(cur="£", mum="mum", favourite="favourite"),
            "us": dict(cur="$", mum="mom", favourite="favorite")}
NUMBERS = words("zero one two three four five six seven eight nine")

# --------------------------------------------------------------------------
# Templates: politics, business, technology and disasters
# --------------------------------------------------------------------------

TEMPLATES = '''
# uk minister under pressure
@post: Transport | Environment | Culture | Housing | Business | Pensions | Energy
@matter: the cost of a delayed rail link | a private dinner with a property developer | unpaid parking fines | the use of a government car for family trips | a leaked letter on flood defences | undeclared shares in an energy firm
The [post] Secretary, [p1.full], is facing {calls to resign|growing pressure to stand down|renewed demands to quit} over [matter].
[p1], who has been in the job for [n1:4-22] months, told MPs on [weekday] that [p1.he] had {"nothing to hide"|"acted properly throughout"|"made an honest mistake"}.
But the Labour MP [p2.full] said the explanation "{simply does not add up|raises more questions than it answers|insults the intelligence of voters}".
~ "People in [town] who play by the rules will look at this and ask why there is one law for ministers and another for everyone else," [p2.he] told the Commons.
~ Downing Street said the prime minister had "full confidence" in [p1], but {refused to say|would not be drawn on} whether [p1.he] had been told about the affair in advance.
~ A poll for the {Sunday|Daily} Courier suggested that [n2:52-71]% of voters thought [p1] should go, while only [n3:11-24]% wanted [p1.him] to stay.
~ [p3.full], the [party] chairman of the committee which looked into the matter, said the documents ran to [n4:120-640/10] pages and had been handed over {late|incomplete|with large sections blacked out}.
? The row began in [month] when emails between [p1] and a former adviser, [p4.full], were {leaked to a newspaper|published online|obtained under freedom of information laws}.
? In one of them [p4], [p4.age], warned that the story would be "very difficult to defend on the doorstep".
[p1], [p1.age], who has represented [town2] since [y1:2001-2017], apologised for {"any confusion"|"any impression that may have been given"} but said [p1.he] would not be "hounded out of office".
? "I came into politics to get things done, and that is what I intend to carry on doing," [p1.he] said.
A report by the standards commissioner is expected {before the summer recess|by the end of [month2]|within [w1:3-9] weeks}.

# us governor signs bill
@law: raises the minimum wage | limits the use of phones in classrooms | requires seat belts on school buses | bans the sale of energy drinks to children | allows stores to sell wine on Sundays | tightens rules on payday loans | makes daylight saving time permanent
Gov. [p1.full] of [county] signed {a bill|a measure|legislation} on [weekday] that [law], {ending months of debate|capping a bitter fight in the state legislature|making good on a campaign promise}.
The [party] governor put [p1.his] name to the bill at {a crowded ceremony|a brief ceremony} in [town], surrounded by supporters and {schoolchildren|small-business owners|local officials}.
"This is a {common-sense|long overdue|historic} step, and the people of [county] have waited long enough for it," [p1] said.
~ The law takes effect on [month] 1 and gives counties [w1:6-18] months to comply.
~ Lawmakers passed the measure by a vote of [n1:51-68] to [n2:29-47] {last week|earlier this month|after an all-night session}.
~ Opponents, led by state Sen. [p2.full], said the law would cost taxpayers $[n3:12-85] million a year and {would be impossible to enforce|"does nothing for working families"|vowed to challenge it in court}.
~ "I have talked to people from one end of this state to the other, and nobody has asked me for this," said [p2], a [p2.age]-year-old rancher from [town2].
~ A survey by [university] found that [n4:54-73] percent of residents support the idea, while [n5:18-33] percent oppose it.
? At least [w2:7-14] other states have {passed|considered} similar laws since [y1:2009-2016], according to the National Council of Statehouses.
? [p3.full], a [job] who testified in favor of the bill, said [p3.he] cried when [p3.he] heard the news. "I did this for my [p3.son]," [p3.he] said.
[p1], who is up for reelection next year, {declined to say|would not say} whether [p1.he] would support a broader version of the law.
? "Let's see how this one works first," [p1.he] told reporters as [p1.he] left the building.

# uk company closes factory
@goods: biscuits | car seats | washing machines | ready meals | carpets | ceramic tiles | aircraft parts | paint | glass bottles | lawnmowers | mattresses
[company] is to close its factory in [town] {with the loss of|at a cost of} [n1:140-960/10] jobs, the company {has announced|has confirmed|said on [weekday]}.
The plant, which makes [goods], {has been part of the town since|opened in} [y1:1921-1978] and is one of the {largest|biggest} employers in [county].
Staff were told {at a meeting in the canteen|in a letter handed out at the gates|by video message} on [weekday] morning.
[p1.full], the chief executive, said the decision was "{extremely difficult|not taken lightly|the last thing we wanted}" and blamed {rising energy costs|cheap imports|falling demand|higher taxes}.
~ "We have looked at every option, but the site has lost £[n2:3-19]m in the past two years and there is no prospect of that changing," [p1] said.
~ Production will be moved to {a newer plant in|an existing site in} [country] over the next [w1:6-18] months.
~ [p2.full], who has worked on the line for [n3:14-38] years, said: "{I feel sick|I'm gutted|It's a kick in the teeth}. My [p2.father] worked here, and my [p2.brother] works here now."
~ The union's regional officer, [p3.full], accused managers of "{treating loyal people like dirt|putting profit before people|a shocking betrayal}" and said a ballot on strike action would follow.
~ The town's MP, [p4.full], said [p4.he] would ask ministers for {urgent talks|a task force|emergency help}.
? [p2], [p2.age], a [p2.father] of [w2:2-4], said [p2.he] had only just taken out a new mortgage.
? "There is nothing else round here," [p2.he] added. "What are we all supposed to do?"
? Shares in [company] rose by [n4:2-7]% after the announcement.
A company {spokesman|spokeswoman} said a 45-day consultation would begin {next week|at once|on [weekday2]} and that {staff would be offered help in finding new work|nobody would leave before [month]}.

# any takeover
@kind: a supermarket group | an online bank | a games developer | a chain of gyms | a maker of electric vans | a cloud software firm | a hotel chain | a pet food business
{Shares in|The price of shares in} [company] {jumped|soared|surged} by [n1:11-38]% on [weekday] after the firm agreed to be bought by its rival [company2] {for|in a deal worth} [cur][n2:1-9].[n3:1-9]bn.
The {takeover|deal} will create [kind] with [n4:12-88],000 staff and sales in [n5:14-60] countries.
[p1.full], chief executive of [company2], said the two firms were "{a perfect fit|stronger together|made for each other}".
~ "Customers will get more choice and better prices, and our people will be part of something much bigger," [p1.he] said in a call with analysts.
~ [company], {founded in|which dates back to} [y1:1952-2009], had been struggling with {rising debts|falling sales|a string of profit warnings} for several years.
~ [company] rejected two {earlier|lower} offers from [company2] in [month] and [month2], saying they "{failed to reflect its true value|significantly undervalued the business}".
~ Analyst [p2.full], of [company3], said the price looked "{full|generous|on the high side}" but added that it made "a lot of sense in the long run".
~ The companies expect to save about [cur][n6:40-190/10]m a year by [y2:2026-2029], {mainly by closing offices|partly through job cuts}.
? Unions reacted with {anger|alarm}. "Every time we hear the word savings, our members hear the word redundancies," said [p3.full], who represents workers in [town].
? Regulators in [city] and [city2] still have to approve the deal.
[p4.full], who founded [company] with [p4.his] [p4.brother] and still owns [n7:8-27]% of the shares, stands to make more than [cur][n8:110-680/10]m.
? The [p4.age]-year-old, who {left school at 16|once sold socks from a market stall|started out in a garage}, said [p4.he] felt "sad and proud at the same time".
The deal is expected to be completed by the end of {[month3]|the year}, {subject to a vote by shareholders|if shareholders give it their blessing}.

# any data breach
@data: names, home addresses and phone numbers | email addresses and passwords | dates of birth and bank details | private messages and photographs | copies of passports and driving licences
The {personal details|private data} of [n1:2-48] million people who use the app [app] {may have been stolen|have been exposed|have been put up for sale}, the company behind it {has admitted|said on [weekday]}.
[app], which is based in [city], said hackers had gained access to [data] {through a flaw in its website|after an employee clicked on a fake email|by way of a partner company}.
It {urged|advised} all users to change their passwords {immediately|as soon as possible} and to {look out|watch out} for suspicious messages.
~ "We are {truly|deeply|very} sorry that this has happened and we are working around the clock to put it right," said the chief executive, [p1.full].
~ But security researcher [p2.full], who first reported the problem, said [app] had {ignored|failed to act on} [p2.his] warnings for more than [w1:3-11] weeks.
~ "I wrote to them on [date] and got an automatic reply," said [p2], [p2.age]. "A child could have found this hole."
~ The attack is thought to be the work of a group calling itself {Silent Crow|Ghost Harvest|Night Parade|Red Cobalt}, which demanded [cur][n2:2-15] million in digital currency.
~ [p3.full], a [p3.age]-year-old [job] from [town], said [p3.he] had received [n3:14-70] scam calls in a single {day|weekend} since the breach. "It makes me feel {sick|furious|like giving up my phone}," [p3.he] said.
? Regulators in [country] {have opened an investigation|are looking into the case} and could fine the company up to [n4:2-4]% of its yearly sales.
? It is the {second|third|fourth} time in [w3:3-6] years that [app] has lost control of its customers' data.
The app was launched in [y1:2010-2018] by [p1] and a college friend, [p4.full], and {is popular with|is used mostly by} {teenagers|young professionals|parents of small children}.
Experts said anyone affected should {check bank statements|freeze their cards|turn on two-step login} and never give a code to a caller. [p2] said [p2.he] had {deleted|already removed} the app "{for good|and slept better for it}".

# any gadget launch
@colour: midnight blue | soft white | forest green | rose gold | graphite black
@part: battery | screen | camera | voice control | charging case
[company] has {unveiled|shown off|taken the wraps off} its {latest|long-awaited} [gadget], {a device|which} it says {will change the way people live|is its most advanced yet|"feels like magic"}.
The [company] [n1:3-9], as it is known, {goes on sale|will be in shops} on [date] at a {starting price|price} of [cur][n2:149-899/50].
It was {presented|introduced} at {an event|a launch|a packed show} in [city] by the company's head of design, [p1.full], who {walked on stage to loud music|was cheered by hundreds of staff|demonstrated it live}.
~ "We threw away everything we knew about the [gadget] and started again from a blank page," [p1] said.
~ The new model is [n3:12-35]% lighter than the last one, and its [part] is said to be {twice as good|three times as good|far better}.
~ It comes in [w1:3-6] colours, among them [colour], and can be {paired with|linked to} any phone in seconds.
~ {Not everyone was convinced|Critics were less impressed}. [p2.full], who reviews technology for the site Bits and Pieces, said: "It is a {lovely|clever|beautiful} thing, but at this price I would {think twice|wait for the sales|keep my old one}."
~ [p2], who tried it for [n4:20-50] minutes, said [p2.he] found the [part] {disappointing|much improved|hard to fault}.
~ Privacy groups have {raised concerns|asked questions} about the data it collects, which is kept on servers in [country] for up to [w2:6-24] months.
? [company] sold [n5:3-28] million of the earlier version but has been {losing ground|losing customers} to its rival [company2].
? Its shares {rose|fell} by [n6:1-4]% after the announcement.
? Fans had queued outside since the early hours; the first in line, [p3.full], [p3.age], had travelled from [town] and slept in {a tent|a deckchair|[p3.his] car}. "My [p3.spouse] thinks I'm mad," [p3.he] said.
Asked when the next model would follow, [p1] {laughed and said|smiled and said|told reporters}: "Let me {sleep|have a holiday|go home} first."

# uk flood
@river: Arrow | Aske | Brent | Calder | Dane | Ebble | Leam | Nadder | Ouse | Rother | Swale | Teme | Wharfe | Yarrow
{Hundreds|Dozens} of homes {have been flooded|are under water} and a [p1.age:61-88]-year-old [p1.man] {has been rescued from the roof of a car|has been pulled from the water} after {torrential rain hit|Storm [storm] battered} {parts of|large areas of} [county].
The river [river] burst its banks {in the early hours of [weekday]|shortly before [time] on [weekday]}, sending {muddy|brown} water through the centre of [town].
The Environment Agency has issued [n1:3-14] severe flood warnings, {meaning there is a danger to life|the highest level of alert}.
Fire crews said [p1.full] had become trapped when [p1.he] tried to {drive through a ford|cross a bridge|reach [p1.his] [p1.son]'s house}.
~ "{The water came up so fast|It came from nowhere|I thought that was it}," said [p1], who is being treated for {shock|hypothermia|minor injuries} at [hospital]. "I owe those lads my life."
~ [p2.full], who runs a {cafe|pub|flower shop|bakery} in [street], said [p2.he] had lost stock worth £[n2:8-45],000. "We only reopened [w1:3-9] months ago after the last flood," [p2.he] said.
~ About [n3:120-480/10] people spent the night at [school], where volunteers handed out {tea and blankets|soup and dry clothes|hot food}.
~ Trains between [town] and [town2] have been cancelled and [w2:6-22] roads are closed.
~ Power was cut to some [n4:2-19],000 properties, although engineers said {most|all but a few hundred} had been reconnected by [weekday2].
? [p1]'s [p1.son], [p3.full], said: "We are always telling [p1.him] to stay at home in bad weather, but [p1.he] never listens."
? Council leader [p4.full] {defended|insisted on defending} the town's flood wall, which was finished in [y1:2009-2019] at a cost of £[n5:4-17]m. "Without it, this would have been {a catastrophe|ten times worse}," [p4.he] said.
? But [p2] said the pumps had {failed|not been switched on in time}.
Forecasters expect up to [n6:30-80/5]mm of {further|more} rain by {the weekend|[weekday3]}, with winds of [n7:50-75/5]mph on {higher ground|the coast}. People have been {told|urged} not to travel unless they have to.

# us tornado
A {powerful|deadly|massive} tornado {tore|ripped|roared} through [town], [county], on [weekday] {night|afternoon|evening}, killing at least [w1:2-9] people and {leveling|damaging} more than [n1:70-420/10] homes, {officials|authorities} said.
The twister touched down {just after [time]|around [time]} and stayed on the ground for [n2:9-38] miles, according to the National Weather Service.
"It sounded like {a freight train coming through the living room|a jet engine|the end of the world}," said [p1.full], [p1.age], who hid in {a bathtub|a closet|the basement} with [p1.his] [p1.spouse] and [w2:2-4] children.
~ When [p1] climbed out, the roof was gone and the family's {pickup truck|minivan} was {upside down in a neighbor's yard|hanging in a tree}.
~ Rescue teams with dogs searched the rubble {through the night|by flashlight}, and [w3:4-9] people were pulled out alive, {including|among them} a [p2.age:1-9]-year-old [p2.boy].
~ The [p2.boy], [p2.full], was found under a mattress almost [n3:200-900/50] feet from [p2.his] home and has only {a few scratches|a broken [body]}, relatives said.
~ "I have done this for [n4:12-31] years and I have never seen anything like it," said Fire Chief [p3.full].
~ [hospital] said it had treated [n5:40-130] patients, [w4:4-12] of whom were in critical condition.
~ The governor declared a state of emergency in [w5:3-9] counties and {sent in|called up} [n6:100-400/50] members of the National Guard.
? [school] was {destroyed|badly damaged}, but it was empty at the time. "One hour earlier and we would have had {basketball practice|the choir|[n7:60-200/10] kids} in there," said the principal, [p4.full].
? About [n8:4-36],000 customers were still without power on [weekday2].
? The storm was rated EF-{3|4}, with winds of up to [n9:140-190/5] mph.
[p1], a [job], said the family {would rebuild|planned to stay}. "{We lost the house, but we still have each other|Things can be replaced, people can't|This is home}," [p1.he] said, {wiping away tears|holding a muddy photo album|as [p1.he] picked through the debris}.
? The Red Cross has opened shelters in [town] and [town2].

# any earthquake rescue
@hours: 31 | 44 | 52 | 63 | 78 | 90
A [p1.age:4-17]-year-old [p1.boy] has been {pulled alive|rescued} from the {ruins|rubble} of a {hotel|block of flats|school} in [country], [hours] hours after an earthquake {killed|that killed} {more than|at least} [n1:120-870/10] people.
Crowds {cheered|clapped|wept} as [p1.full] was carried out on a stretcher, {covered in dust|wrapped in a gold blanket} but able to {wave|speak}.
"[p1.He] asked for {a glass of water and [p1.his] [p1.father]|an ice cream|[p1.his] schoolbag}," said [p2.full], a rescue worker from [town] who had crawled through a gap only [n2:35-55]cm wide to reach [p1.him].
~ The magnitude [n3:6-7].[n4:1-9] quake struck at [time] on [weekday], when most people were {asleep|at home}, and was felt as far away as [city].
~ [p2], [p2.age], said {the team|rescuers} had heard faint tapping {in the night|at dawn} and ordered everyone to be silent.
~ "I shouted, and a small voice shouted back," [p2.he] told reporters. "I will {never forget it|remember that sound until I die}."
~ It took [w1:5-14] hours to {cut through|remove} the concrete, {with aftershocks shaking the building|by hand and with small tools}.
~ Doctors said [p1.first] had a {broken|fractured} [body] and was {badly dehydrated|very thirsty}, but {was out of danger|should make a full recovery}.
~ [n5:14-60] countries have offered help, and a plane with [n6:20-90/5] tonnes of tents and medicine has {landed|arrived} in the region.
? The United Nations said [n7:20-190/10],000 people had lost their homes and that {clean water|shelter|fuel} was the most urgent need.
? Aid worker [p3.full], of [charity], said nights were {freezing|bitterly cold}. "People are burning furniture to keep warm," [p3.he] said.
? Prosecutors have {arrested|questioned} [w2:3-9] builders over {poor|illegal} construction.
[p1]'s {aunt|uncle|grandmother}, who had {waited|kept watch} beside the building since the quake, called it "a miracle". {Hopes of finding more survivors are fading|Officials said the search would go on until [weekday2]}.

# uk council row
@plan: charge £1 to use public toilets | remove all the benches from the high street | ban dogs from the main beach | sell the town's Victorian library | turn off street lights at midnight | paint the war memorial railings pink | close the last public swimming pool | replace the park's duck pond with a car park
{Residents|People} in [town] have {reacted with fury|hit out|reacted angrily} after {the|their} council announced plans to [plan].
{More than|Almost} [n1:2-14],[n2:100-900/100] people have signed a petition against the {idea|scheme|proposal}, which councillors say will save £[n3:20-180/5],000 a year.
[p1.full], [p1.age], who started the petition {at [p1.his] kitchen table|from [p1.his] {sofa|hospital bed}}, said it was "{the daftest thing I have ever heard|an insult to the whole town|pure madness}".
~ "They can find money for {new office chairs|a trip to [city]|consultants}, but not for us," said the {retired|former} [job].
~ Council leader [p2.full] said {cuts in government grants|rising costs} had left the authority with "{no choice|very few options}".
~ "{Nobody came into local politics to do this|I understand why people are upset}, but we have to find £[n4:3-28]m by [month]," [p2.he] said.
~ [p3.full], who has {run|owned} a shop in [street] for [n5:11-42] years, warned that visitors would {stay away|go to [town2] instead}.
~ A {protest|demonstration} outside the town hall on [weekday] drew around [n6:150-900/50] people, some of them {dressed as ducks|banging saucepans|carrying home-made placards}.
? One banner read: "{Shame on you, [p2]|Hands off our town|Use your heads}."
? [p1], a [p1.grandfather] of [w1:3-9], has even written {a song|a poem} about the row, which has been watched [n7:11-98],000 times online.
? A similar plan was dropped in [y1:2008-2018] after {a public outcry|legal advice}.
? The local MP, [p4.full], has {backed the campaign|called for a "pause"}, saying the council had "{misread the mood|not thought it through}".
The council will vote on the {plan|proposal} on [date]. "If they think we will {go away|forget about it}, they {don't know [town]|have another think coming}," [p1] said.
'''


# --------------------------------------------------------------------------
# Filling templates
# --------------------------------------------------------------------------

NUMBER = re.compile(r"\[(\w+(?:\.age)?):(\d+)-(\d+)(?:/(\d+))?\]")
CHOICE = re.compile(r"\{([^{}]*)\}")
SLOT = re.compile(r"\[([A-Za-z]+)(\d*)(?:\.(\w+))?\]")
KIN = re.compile(r"\[(\w\d)\.(son|brother|spouse)\], \[(\w\d)\.full\]")
PERSON_SLOT = re.compile(r"\[([pmf]\d)(?:\.(\w+))?\]")
ARTICLE = re.compile(r"\b([Aa])n? (?=[\"']?[£$]?(\w[\w'.-]*))")
VOWEL_SOUND = re.compile(
    r"([aeio]|u(?!ni(?!n|m)|se|su|ti|ro|k)|8|11\b|18\b|hour|honest|honou?r|heir"
    r"|MP|NHS|MRI|FBI|FA\b|X-ray|[AEFHILMNORSX]\d)", re.IGNORECASE)
CONSONANT_SOUND = re.compile(r"(one\b|once|eu|ewe|U[KS]\b|ubiq|uk)", re.I)


def parse(text):
    """Turn the blocks of a template text into (region, slots, rows)."""
    templates = []
    for block in text.strip().split("\n\n"):
        heading, *rows = block.strip().split("\n")
        region = heading.split()[1]
        values = {}
        while rows[0].startswith("@"):
            name, _, options = rows.pop(0)[1:].partition(":")
            values[name] = [option.strip() for option in options.split("|")]
        templates.append((region, values, rows))
    return templates


def article_for(match):
    letter, word = match.group(1), match.group(2)
    vowel = VOWEL_SOUND.match(word) and not CONSONANT_SOUND.match(word)
    return letter + ("n " if vowel else " ")


class Article:
    """Slot values of one article."""

    def __init__(self, rng, region, values, text):
        self.rng = rng
        self.region = rng.choice(["uk", "us"]) if region == "any" else region
        self.values = values
        self.memo = {}
        self.names_used = set()
        self.kin = {relative: (owner, relation)
                    for owner, relation, relative in KIN.findall(text)}
        self.named = set()       # people whose full name has been given
        self.recent = set()      # people in the previous sentence
        for name, low, high, step in NUMBER.findall(text):
            number = rng.randrange(int(low), int(high) + 1, int(step or 1))
            self.memo[name] = self.number(name, number)

    @staticmethod
    def number(name, number):
        if name.startswith("w") and number < 10:
            return NUMBERS[number]
        return str(number) if name.startswith("y") else f"{number:,}"

    def unused(self, names):
        name = self.rng.choice([n for n in names if n not in self.names_used])
        self.names_used.add(name)
        return name

    def person(self, name):
        if name not in self.memo:
            gender = {"m": "male", "f": "female"}.get(
                name[0], self.rng.choice(["male", "female"]))
            owner, relation = self.kin.get(name, (None, None))
            if owner:
                last = self.person(owner)["last"]
                male = (self.person(owner)["man"] == "man") != (
                    relation == "spouse")
                gender = "male" if male else "female"
            else:
                last = self.unused(LAST)
            first = self.unused(
                MALE_FIRST if gender == "male" else FEMALE_FIRST)
            self.memo[name] = dict(PRONOUNS[gender], first=first, last=last,
                                   full=f"{first} {last}")
            self.memo.setdefault(name + ".age", str(self.rng.randint(21, 67)))
        return self.memo[name]

    def name_people(self, text):
        """Choose between full name, surname and pronoun for each mention.

        The first mention gets the full name. A pronoun becomes a name when
        the sentence and the one before it do not say who is meant.
        """
        mentioned = set()

        def mention(match):
            name, attribute = match.group(1), match.group(2) or "last"
            known = name in mentioned or name in self.recent
            mentioned.add(name)
            pronoun = attribute.lower() in ("he", "him", "his")
            if attribute in ("full", "last") or pronoun and not known:
                style = "short" if name in self.named else "full"
                self.named.add(name)
                if style == "short":
                    style = "first" if name in self.kin else "last"
                ending = "'s" if attribute.lower() == "his" else ""
                return f"[{name}.{style}]{ending}"
            return match.group(0)

        text = PERSON_SLOT.sub(mention, text)
        self.recent = mentioned or self.recent
        return text

    def computed(self, kind):
        if kind == "date":
            day, month = self.rng.randint(1, 28), self.rng.choice(SLOTS["month"])
            return f"{day} {month}" if self.region == "uk" else f"{month} {day}"
        hour, minute = self.rng.randint(1, 11), self.rng.choice(["00", "15",
                                                                 "30", "45"])
        half = self.rng.choice("ap")
        if self.region == "uk":
            return f"{hour}{'' if minute == '00' else '.' + minute}{half}m"
        return f"{hour}{'' if minute == '00' else ':' + minute} {half}.m."

    def slot(self, match):
        kind, digits, attribute = match.groups()
        name = kind + digits
        if kind in ("p", "m", "f") and digits:
            person = self.person(name)
            if attribute == "age":
                return self.memo[name + ".age"]
            if attribute[0].isupper():
                return person[attribute.lower()].capitalize()
            return person[attribute]
        if kind in REGIONAL[self.region]:
            return REGIONAL[self.region][kind]
        if name not in self.memo:
            taken = {v for k, v in self.memo.items()
                     if k.rstrip("0123456789") == kind}
            if kind in ("date", "time"):
                self.memo[name] = self.computed(kind)
            else:
                options = self.values.get(kind) or SLOTS[kind]
                if isinstance(options, dict):
                    options = options[self.region]
                self.memo[name] = self.rng.choice(
                    [o for o in options if o not in taken])
        return self.memo[name]

    def fill(self, text):
        while CHOICE.search(text):
            text = CHOICE.sub(
                lambda m: self.rng.choice(m.group(1).split("|")), text)
        text = NUMBER.sub(
            lambda m: (f"[{m.group(1)}]" if m.group(1).endswith(".age")
                       else self.memo[m.group(1)]), text)
        text = self.name_people(text)
        while SLOT.search(text):
            text = SLOT.sub(self.slot, text)
        text = ARTICLE.sub(article_for, text)
        text = re.sub(r"s's\b", "s'", text)
        text = re.sub(r" +(?=,)|(?<= ) +", "", text)
        text = re.sub(r"(?<=[ap]\.m\.)\.", "", text)
        start = 1 if text[0] in "\"'" else 0
        return text[:start] + text[start].upper() + text[start + 1:]


def choose_rows(rows, rng, keep):
    """Drop some of the optional rows and shuffle runs of movable ones."""
    def introduces(row):
        return set(re.findall(r"\[(\w\d)\.full\]", row))

    def introductions_first(rows):
        """Move the row that introduces a person before others about them."""
        for row in rows[:]:
            for name in introduces(row):
                about = [i for i, other in enumerate(rows)
                         if f"[{name}" in other]
                if about[0] < rows.index(row):
                    rows.remove(row)
                    rows.insert(about[0], row)
        return rows

    chosen, run = [], []
    for row in rows + [""]:
        if row.startswith("~"):
            if rng.random() < (0.3 + keep) / 1.3:
                run.append(row[2:])
            continue
        rng.shuffle(run)
        chosen += introductions_first(run)
        run = []
        if row.startswith("? "):
            if rng.random() < keep:
                chosen.append(row[2:])
        elif row:
            chosen.append(row)
    return chosen


def byline(article, rng):
    """Text that some sites put before the article."""
    draw = rng.random()
    if article.region == "us" and draw < 0.2:
        return article.fill("[town]{ (Newswire)|, [county] (NSN)|} -- ")
    if article.region == "uk" and draw < 0.12:
        return article.fill("By [p9.full] . Published: [time], [date] "
                            f"{rng.randint(2011, 2019)} . ")
    return ""


def write(template, rng, keep):
    """Write one article; `keep` is the share of optional sentences."""
    region, values, rows = template
    article = Article(rng, region, values, "\n".join(rows))
    sentences = [article.fill(row) for row in choose_rows(rows, rng, keep)]
    text = byline(article, rng) + " ".join(sentences)
    if article.region == "uk" and rng.random() < 0.3:
        text = text.replace('"', "'")
    return text


def prompts(seed: int, count: int) -> list[str]:
    """Return `count` distinct prompts, the same ones for the same seed."""
    rng = random.Random(seed)
    templates = parse(TEMPLATES)
    for module in (news_articles_crime, news_articles_sport,
                   news_articles_science, news_articles_life):
        templates += parse(module.TEMPLATES)
    order = []

    def next_template():
        if not order:
            order.extend(rng.sample(templates, len(templates)))
        return order.pop()

    found = {}
    while len(found) < count:
        if rng.random() < JOINED_SHARE:
            parts = [write(next_template(), rng, 0.15) for _ in range(2)]
        else:
            parts = [write(next_template(), rng, rng.uniform(0.45, 0.95))]
        text = " ".join(parts)
        if MIN_WORDS <= len(text.split()) <= MAX_WORDS:
            found[PREFIX + text] = None
    return list(found)
