"""Templates about celebrities, travel, pets and people for `news_articles`."""

TEMPLATES = '''
# any lost dog
A {runaway|missing} [breed] has been {reunited with|returned to} its {owner|overjoyed owner} [w1:3-8] years after it {vanished|went missing} from {a garden|a beach|a campsite} in [town].
[pet] was {found|picked up} [n1:90-640/10] miles away in [town2] by [p1.full], who {thought it was a fox|was out jogging}.
A vet {scanned|checked} the dog's microchip and {rang|called} [p2.full], [p2.age], a [job], who {burst into tears|thought it was a joke}.
~ "{I never stopped looking|I had kept the lead by the door}, but I {didn't dare to hope|had started to give up}," [p2] said.
~ [pet], who was {two|three} when [p2] last saw it, {had lost a tooth|was thin} but was {otherwise in good health|wagging its tail}.
~ [p2] had {put up|printed} [n2:400-950/50] posters and {spent|paid out} [cur][n3:2-9],000 on {adverts|a pet detective}.
~ "It {jumped straight into my car|ate an entire chicken} and {fell asleep|then it was sick on the seat}," said [p1], [p1.age], who has been {given|offered} a reward of [cur][n4:100-900/50].
~ Nobody knows {where the dog had been|how it got there}, although {a lorry|a train} {is thought to have been involved|may be the answer}.
? [p2]'s [p2.son], [p3.full], {was a baby|had just started school} when [pet] {disappeared|got out}. "{It knew my voice|It still does the trick with the biscuit}," [p3.he] said.
? The family {now has|had since bought} a cat, [pet2], which is {not amused|said to be furious}.
? {The charity|Animal charity} [charity] said {about [n5:20-60]%|fewer than half} of lost dogs {are ever found|get home}.
"{It sleeps on my bed now and I am not going to argue|It was as if it had only been out for a walk}," [p2] said. "{Get your pet chipped|Never give up}, that's {my message|all I can say}."

# uk celebrity split
[f1.full], {who plays|best known as} {a nurse|the landlady|a detective} in [show], has {split from|separated from|announced the end of her marriage to} [m1.full] after [w1:3-14] years.
The actress, [f1.age:27-54], {confirmed the news|broke the news} {in a statement|in a post} on [weekday], {asking for privacy|saying they would "always be friends"}.
"{It is with heavy hearts that we have decided to go our separate ways|We have grown apart but we are still a family}," she wrote.
~ The couple {met on the set of|fell in love while filming} [film] in [y1:2004-2011] and {married|tied the knot} {in a castle in [county]|on a beach in [resort]} in front of [n1:60-240/10] guests.
~ {They have|The pair have} {a son|a daughter}, [p3.first], [n2:4-9], and {share|own} a £[n3:2-7]m {house|farmhouse} in [county].
~ A {friend|source} told the Daily Courier: "{They were hardly ever in the same country|She threw herself into work}. {There is nobody else involved|It has been coming for months}."
~ [m1], {a former [job]|the singer}, was {pictured|spotted} {without his wedding ring|leaving a hotel} in [city] {last month|in [month]}.
~ He {declined to comment|told photographers he was "gutted"} when {approached|asked} {outside his gym|at an airport}.
? [f1] {rose|shot} to fame {at the age of [n4:16-19]|in [show2]} and {won|was nominated for} an award for her part in [film2].
? Last year she {spoke|opened up} about {her battle with anxiety|the pressures of fame}: "{People see the red carpet, they don't see you crying in the car|I said yes to everything and forgot to live}."
? Co-star [f2.full] {sent her love|wrote}: "{Strongest woman I know|Tea at mine, any time}."
[f1] {is due to start|will begin} filming {a new series|the next series} in [month2]. {Her agent, [p4.full], said she was "looking forward to getting back to work"|"She will be fine," the friend added, "she always is"}.

# any flight emergency
An [airline] flight {bound for|to} [city] {had to turn back|made an emergency landing} {in [city2]|at [town]} on [weekday] after {smoke filled the cabin|a window cracked|a bird was sucked into an engine|a passenger tried to open a door}.
The plane, with [n1:112-286] passengers and [w1:5-12] crew on board, was {at [n2:19-36],000 feet|[n3:25-70] minutes into its journey} when the {captain|pilot}, [p1.full], {sent out a distress call|raised the alarm}.
{Nobody was seriously hurt|Several people were treated for minor injuries}, {a spokesman said|the airline said}.
~ "{There was a huge bang and then silence|People were praying and holding hands|I wrote a text to my [p2.spouse] to say goodbye}," said [p2.full], [p2.age], a [job] from [town2].
~ {Oxygen masks dropped|The lights went out} and the aircraft {fell|dived} [n4:4-12],000 feet in {less than two minutes|moments}.
~ "The crew were {amazing|so calm}, but you could see it {in their eyes|on their faces}," said [p3.full], who was {on honeymoon|travelling with [w3:2-4] children}.
~ [p2] {praised|hugged} the captain, a former {air force|rescue helicopter} pilot with [n5:14-31] years' experience.
~ {Fire engines|Emergency vehicles} lined the runway as the plane {touched down|landed} at [time].
? {Passengers|They} spent the night {on the floor of the terminal|in a hotel} before {flying on|leaving} {the next day|on another aircraft}. "{We got a [cur]10 voucher|No one told us anything}," [p3] {complained|said}.
? [airline] said safety was its "{top|absolute} priority" and it was {helping|working with} investigators.
? The jet was {only [w4:3-9] years old|checked in [month]}, {records show|according to the airline}.
Aviation expert [p4.full] said such {events|incidents} were {extremely rare|less dangerous than they feel}. "{The training worked|It is still far safer than the drive to the airport}," [p4.he] said. [p2] {is not so sure|took the train home}.

# uk lottery winner
A [p1.age:23-74]-year-old [job] who {won|scooped} £[n1:2-58]m on the lottery {says [p1.he] will|has vowed to} {go back to work on Monday|keep [p1.his] caravan|carry on shopping in the sales}.
[p1.full], of [street], [town], {bought the ticket|picked up a lucky dip} {while waiting for a bus|on the way to have a tooth out|with the change from a pint of milk}.
[p1.He] {did not check it|left it in a coat pocket} for [w1:3-19] days {because|as} {[p1.he] was on nights|[p1.his] mother was in hospital}.
~ "{I had to sit down on the stairs|My [p1.spouse] hung up on me|I checked it eleven times}," [p1] said.
~ [p1.His] [p1.spouse], [p2.full], said: "{We were arguing about the gas bill an hour before.|I said, does this mean we can get the boiler done?}"
~ The couple, who have {lived|rented} in the same {terrace|flat} for [n2:9-33] years, {plan to|will} {take [w2:5-14] relatives to [resort]|buy a house with a garden for their [breed], [pet]}.
~ [p1] will also {give|donate} £[n3:50-400/50],000 to [charity], {which helped the family when times were hard|in memory of [p1.his] [p1.father]}.
~ [p1.His] boss, [p3.full], said {colleagues|workmates} were {thrilled|over the moon}. "[p1.He] {still owes me a fiver|brought in doughnuts}," [p3.he] {joked|added}.
? The {shopkeeper|newsagent} who sold the ticket, [p4.full], said {business had doubled|people were coming from miles around to touch the counter}.
? The chances of {winning|taking the jackpot} are about one in [n4:14-45] million.
? It is the biggest {prize|win} in [county] since [y1:2004-2016], when {a retired couple|a group of nurses} won £[n5:60-90]m.
Asked about {[p1.his] first purchase|a treat for [p1.himself]}, [p1] {thought for a moment|laughed}. "{A decent pair of slippers|A new shed, a proper one|Fish and chips for the street}," [p1.he] said. "{Money doesn't make you happy, but I'm willing to give it a go|I'm the same person I was last week, only tired}."

# us birthday
[f1.full] {celebrated|marked} her [n1:104-109]th birthday {on [weekday]|this week} {with a ride in a fire truck|with a slice of pie|at a bowling alley} in [town], [county], and {shared|revealed} the secret of her long life: {"bacon and no husbands"|"dancing in the kitchen"|"never hold a grudge"|"a spoon of honey and a short memory"}.
[f1], who {was born|grew up} on a farm {without electricity|as one of [w1:9-13] children}, has [w2:3-9] grandchildren and [n2:14-42] great-grandchildren.
"{I don't feel a day over 90|I'm still here because nobody told me to leave}," she said, {adjusting her paper crown|as a [instrument] played}.
~ Mayor [p2.full] {read out|presented} a {letter from the governor|proclamation} and declared it [f1.full] Day.
~ [f1] {worked|served} as a [job] {for [n3:31-48] years|until she was [n4:72-84]}, {and once|and in 1937 she} {shook hands with a president|danced with a movie star}.
~ Her husband, [m3.full], {died|passed away} in [y1:1969-1991]. "{He was a good man but he couldn't cook|I told him I'd be along shortly}," she said.
~ She {gave up driving|quit bowling} at [n5:94-99], {against the advice of|to the relief of} her daughter, [f4.full], who is [n6:71-82].
~ "{She still corrects my grammar|She beats everybody at cards, and she cheats}," {said [f4]|[f4] said}.
? [f1] {lived through|remembers} {the Great Depression|two world wars} and [n7:17-18] presidents, {but says|and says} the best invention {was|of all was} {the washing machine|indoor plumbing|frozen food}.
? Pupils at [school] sent {[n8:104-380] cards|a quilt}.
? Doctors at [hospital] say she {takes just one pill a day|has the heart of a 70-year-old}. "{She's one for the books|I should be asking her for advice}," Dr [p5.full] {joked|said}.
{Asked|When asked} what she wanted {for next year|next}, [f1] {did not hesitate|grinned}. "{A younger boyfriend|Same again, please|Another one}," she {said|told the [town] Herald}.

# any singer cancels
Singer [p1.full] has {cancelled|postponed|called off} the {rest|remaining [w1:5-18] dates} of [p1.his] {world|farewell} tour after {collapsing on stage|losing [p1.his] voice|falling off a stage} in [city].
The [p1.age:22-69]-year-old, {whose hits include|best known for} "{Paper Moon Hotel|Hold the Line Again|Nobody's Saturday|Blue Avenue|Run to the River}", was {performing|on stage} in front of [n1:9-48],000 fans when {it happened|the lights went down} {on [weekday] night|}.
{A statement|A message} {on [p1.his] website|posted online} said [p1.he] had been {ordered|told} by doctors to rest for [w2:4-12] weeks.
~ "{I am heartbroken to let you all down|I have never missed a show in my life and this is killing me}," [p1] said.
~ Guitarist [m2.full] {said the band was|told reporters everyone was} "{shaken|worried sick}". "{One second [p1.he] was there and the next [p1.he] wasn't|[p1.He] had been running a fever all week}," he said.
~ One fan, [p3.full], had {travelled|flown} from [country] {at a cost of [cur][n2:700-1900/100]|with [p3.his] mother}. "{I only care that [p1.he] gets better|I cried all the way back to the hotel}," [p3.he] said.
~ Tickets, which {cost|sold for} up to [cur][n3:90-380/10], {will be refunded|remain valid for new dates}, {the promoter|promoter} [company] {said|confirmed}.
~ [p1] {won fame|was discovered} on the {television show|talent show} [show] in [y1:2003-2014] and has sold [n4:8-70] million {records|albums}.
? Last {year|summer} [p1.he] {spoke about|admitted} {drinking too much|suffering from exhaustion} in an interview: "{You go from a stadium to an empty room|I don't know how to stop}."
? [p1.His] [p1.spouse], the {model|film director} [p4.full], {was seen|arrived} at {the hospital|a private clinic} {with flowers|with their two children}.
? Fellow {star|singer} [p5.full] {wrote|tweeted}: "{Rest up, legend|The stage will wait for you}."
{A new album|[p1.His] next album} is {still|} {expected|due} in [month]. [p1] {promised|told fans}: "{This is not goodbye|I will sing for you again if I have to do it sitting down}."
'''
