"""Templates about crime and courts for `news_articles`."""

TEMPLATES = '''
# uk arson sentence
@motive: a parking space | an unpaid debt of £200 | a broken engagement | a lost pub quiz | a dispute over a hedge | a text message | losing [p1.his] job
@sold: fireworks | a petrol can | a box of matches | lighter fuel
A [p1.man] who set fire to a {pub|restaurant|car showroom|terraced house|community centre} {in a row over|because of|after a quarrel about} [motive] has been jailed for [w1:4-11] years.
[p1.full], [p1.age], of [street], [town], {poured petrol through the letterbox|broke a window and threw in a burning rag|piled up wooden pallets by the back door} in the early hours of [date].
[w2:3-8] people, including a [n1:2-9]-month-old baby, were {asleep upstairs|inside} and had to {jump from a first-floor window|climb out over a flat roof|be led out by firefighters}.
~ [town] Crown Court heard that [p1] had {bought|been filmed buying} [sold] at a garage less than an hour before.
~ [p2.full], prosecuting, said it was "{sheer luck|nothing short of a miracle} that nobody died".
~ The fire caused damage {put at|of about} £[n2:60-480/10],000 and the building {had to be pulled down|is still closed}.
~ In a statement read to the court, the owner, [p3.full], said [p3.he] had {not slept properly since|lost everything [p3.he] had worked for}. "Every time I smell smoke, I am back in that room," [p3.he] said.
~ [p1] {was traced|was arrested [w3:2-6] days later} after leaving [p1.his] {mobile phone|glasses|bank card} at the scene.
? In interview [p1] claimed [p1.he] had been {at home with [p1.his] mother|watching television|walking the dog}, but {burns on [p1.his] hand|CCTV pictures} showed otherwise.
? [p4.full], defending, said [p1] had been {drinking heavily|suffering from depression} and was "{deeply ashamed|truly sorry}".
? "[p1.He] knows that sorry is not enough," [p4] added.
Judge [p5.full] told [p1.him]: "{You gave no thought to those sleeping inside|You could easily be standing here facing a charge of murder|This was a wicked act of revenge}."
? Speaking afterwards, Det Con [p6.full], of [county] Police, said: "I hope this sentence shows how seriously we take {arson|crimes like this}."
[p1], who admitted arson {being reckless as to whether life was endangered|with intent to endanger life}, {showed no emotion|wept|shook [p1.his] head} as [p1.he] was led to the cells.

# us robbery suspect arrested
@target: bank | jewelry store | gas station | pharmacy | credit union | pawn shop
@mask: a clown mask | a Santa hat | a hockey mask | a wedding veil | a chicken costume | a construction helmet | hospital scrubs
A [p1.age:22-71]-year-old [p1.man] {is accused of robbing|has been arrested and charged with robbing} a [target] in [town], [county], while wearing [mask], {police|authorities} said [weekday].
[p1.full] {walked into|entered} the [target] on [street] {shortly before|at about} [time] and handed over a note that read, "{No sirens, no heroes|Please give me the money, thank you|Be quick, I have a bus to catch}," according to a police report.
The clerk, [p2.full], handed over about $[n1:1-18],[n2:100-900/50].
~ "I thought it was {a joke|a prank for somebody's birthday}," [p2] told the [town] Herald. "Then I saw {[p1.his] hand in the bag|the gun}."
~ Detectives say [p1] {drove off in a stolen ice cream truck|fled on a bicycle|called a taxi from the parking lot}, dropping bills along the way.
~ Surveillance video shows [p1] {slipping on a wet floor|struggling with the door, which was marked "pull"|stopping to pet a dog} as [p1.he] left.
~ [p1] was {tracked down|found} [w1:3-40] hours later at {a motel|a casino|[p1.his] [p1.brother]'s house} in [town2], where officers also {seized|found} [mask].
~ Police Sgt. [p3.full] said a tip from {a neighbor|a schoolteacher|an ex-girlfriend of a friend} led officers to the suspect.
? "[p1.He] was very polite," [p3] said. "[p1.He] asked if [p1.he] could finish [p1.his] {sandwich|coffee|card game} first."
? Court records show [p1] was released from prison in [month] after serving [w2:3-9] years for a similar crime.
? Investigators are looking at whether [p1] is {tied|linked} to [w3:2-7] other robberies in the area since [month2].
[p1] was being held on $[n3:50-750/50],000 bail on charges of {armed robbery|robbery and evading arrest} and is due in court on [weekday2].
? [p1.His] attorney, [p4.full], {declined to comment|did not return a call seeking comment}.
If convicted, [p1.he] {faces|could get} up to [n4:12-30] years in prison.

# uk murder trial
@weapon: a kitchen knife | a hammer | a heavy glass vase | a garden spade | a cricket bat
A [job] murdered his {wife|former partner|girlfriend} with [weapon] and then {pretended she had gone on holiday|went to work as if nothing had happened|sent messages from her phone to cover his tracks}, a court has heard.
[m1.full], [m1.age], is accused of killing [f1.full], [f1.age:24-58], at their home in [street], [town], {some time|at some point} between [date] and the following weekend.
Prosecutor [p3.full] told the jury at [town2] Crown Court that [m1] was "{a jealous and controlling man|a man who could not bear to lose}".
~ The couple had {met at a dance class|met online|been together since school} in [y1:2001-2013] and had {two|three} children, but the relationship had {broken down|turned sour}.
~ "She had told friends that she was {planning to leave|afraid of him}, and he had found out," [p3] said.
~ Neighbour [p4.full] told the court [p4.he] heard {a scream|shouting and a loud bang} at about [time]. "Then it went very quiet," [p4.he] said.
~ Ms [f1] was found by her {sister|mother|best friend} [w1:2-6] days later with [n1:8-31] injuries to her head and {chest|arms}.
~ The jury was shown CCTV in which the defendant {bought bleach and bin bags|bought a spade|threw a bag into a skip} at a {retail park|service station}.
? Police found traces of blood {on the soles of his slippers|in the boot of his car|under the kitchen tiles}.
? A computer expert, [p5.full], said [m1] had searched the internet for {"how long is life sentence"|"flights to [city]"|"does bleach remove everything"}.
? In her last message to her [mum], the [f1.age]-year-old wrote: "{I'm not scared of him any more|Everything will be better after Christmas|Call me tonight, I need to talk}."
[m1] {denies murder|says he acted in self-defence|claims a burglar was to blame} and told officers: "{I loved her|I would never hurt her|You have got the wrong man}."
The trial, which is {due|expected} to last [w2:3-7] weeks, continues.

# uk carer stole
@spent: a cruise, designer handbags and a hot tub | online bingo | holidays in [resort] and a new kitchen | cosmetic surgery and a sports car | horse riding lessons and concert tickets
A {carer|bookkeeper|bank worker|parish treasurer} who stole {more than|almost} £[n1:22-310],000 from {a pensioner|a frail widow|a [n2:81-97]-year-old war veteran} has been {sent to prison|jailed|locked up}.
[p1.full], [p1.age], {used the victim's bank card|forged [w1:12-90] cheques|moved small sums every week} to pay for [spent], [town] Crown Court was told.
The victim, [p2.full], had {treated [p1] like one of the family|trusted [p1] completely|even left [p1] a gift in the will}.
~ {The fraud came to light|Suspicions were raised} when [p2]'s [p2.son], [p3.full], {noticed that a bill had not been paid|opened a bank statement by chance}.
~ "I felt physically sick," said [p3]. "[p1.He] sat at our table at Christmas and ate our food."
~ Between [month] [y1:2009-2013] and [month2] [y2:2014-2018], [p1] made [n3:120-690] separate withdrawals, {some of them while the victim was in hospital|often of £300 at a time}.
~ When police searched the {defendant's|thief's} house in [street] they found {unopened boxes of shoes|£[n4:2-9],000 in a cereal box|receipts hidden in the freezer}.
~ [p4.full], defending, said [p1] had a gambling problem and had {written a letter of apology|sold [p1.his] car to pay back some of the money}.
? [p1], who has two {young|teenage} children, {sobbed|stared at the floor} throughout the hearing.
? Sentencing [p1.him] to [n5:20-58] months, Judge [p5.full] said it was "{a mean and callous|a gross} breach of trust".
? "You were paid to look after someone who could not look after [p2.himself], and you helped yourself instead," the judge {said|told [p1]}.
[p2] {has since died|now lives with family}. "[p2.He] {never got over it|lost all faith in people|would not have wanted a fuss}," said [p3].
A hearing to {recover|get back} the money will take place in [month3].

# any art theft
@work: a painting of a blue horse | a bronze ballerina | a portrait of an unknown nobleman | a Dutch still life with lemons | a pair of Chinese vases | a diamond tiara | a rare violin
@place: a castle | a small museum | a country house | a cathedral | a private gallery
Thieves have stolen [work] {worth|valued at} [cur][n1:2-34] million from [place] {near|in} [city] in a raid that lasted {less than|barely} [w1:3-9] minutes, police {say|said}.
{Three|Four|Two} {masked|hooded} men {climbed a ladder|came through a skylight|drove a van through a gate} at about [time] on [weekday] and {smashed|cut through} a glass case.
A guard, [p1.full], was {tied up|locked in a cloakroom} but was not hurt.
~ "They knew exactly what they wanted and they {did not look at anything else|walked past far more valuable things}," said the director, [p2.full].
~ An alarm went off, but {the nearest police car was [n2:18-42] miles away|staff thought it was a fault}.
~ {A burnt-out car|An abandoned van} was found {in a wood|beside a canal} the next morning.
~ [p3.full], an expert on stolen art, said the piece was far too well known to be sold openly. "It will {sit in a bank vault|be used as a kind of currency between criminals|probably come back in ten years}," [p3.he] said.
~ The work was {bought|given to the collection} in [y1:1890-1975] and had just come back from an exhibition in [city2].
? It is the second time it has been stolen: in [y2:1978-1999] it was found {under a bed|in a left-luggage locker} after an anonymous call.
? [p1], [p1.age], who has worked there for [n4:6-29] years, said: "I keep asking myself {what I could have done|why I did not hear them}."
? The owners have offered a reward of [cur][n5:50-500/50],000 for {information|its safe return}.
[p2] appealed to the thieves to {keep it dry and out of the sun|handle it with care}. "{Please just leave it somewhere safe|It belongs to everyone|Send it back}," [p2.he] said.
Police want to hear from anyone who {saw|noticed} a {white|dark blue} van in the area {that night|between midnight and dawn}.

# us wrongful conviction
A {man|former [job]} who spent [n1:17-38] years in prison for a {murder|killing} he did not commit {walked free|was released} in [county] on [weekday] after {DNA tests|new evidence} cleared his name.
[m1.full], [m1.age:44-71], {hugged|embraced} his [mum] outside the courthouse in [town] and {looked up at the sky|asked for a cheeseburger|said he wanted to see the ocean}.
"I always knew this day would come; I just didn't know {it would take so long|if she would live to see it}," [m1] told reporters.
~ He was {convicted|found guilty} in [y1:1982-1996] of killing [p2.full], a [p2.age:19-66]-year-old store owner who was shot during a robbery.
~ The case {rested|hinged} on a single witness, [p3.full], who {picked [m1] out of a lineup|said she saw him from across the street|later took back her story}.
~ Lawyers from [university] {took up|began working on} the case [w1:5-12] years ago and discovered that police had {kept back|never turned over} [w2:2-6] reports pointing to another suspect.
~ "The system failed this man at every turn," said his attorney, [p4.full].
~ District Attorney [p5.full], who {did not oppose|supported} the release, {apologized|offered an apology} in court. "Nothing I can say will give you those years back," [p5.he] said.
~ While he was inside, [m1] {earned a college degree|learned to paint|trained [n2:12-40] guide dogs} and missed {his father's funeral|the birth of his grandchildren}.
? Under state law he could receive $[n3:40-80/5],000 for every year {he was locked up|behind bars}.
? The victim's [p2.brother], [p6.full], said the family was in shock. "We {want the truth, whatever it is|have to start grieving all over again}," [p6.he] said.
? Asked if he was angry, [m1] {paused|shook his head}. "{If I stay angry, I'm still in that cell|Anger won't buy me a house}," he said.
[m1] plans to {live with a sister in [town2]|learn how to use a cell phone|get a driver's license}. Since [y2:1989-1992], more than [n4:2-3],000 people have been cleared of crimes in the United States, according to {a national registry|researchers}.

# uk missing teenager
@seen: a bus stop | the railway station | a supermarket car park | a friend's house | the seafront
{Police|Detectives} searching for a missing [p1.age:13-17]-year-old [p1.boy] have {released|issued} {new CCTV pictures|a fresh appeal} [w1:3-9] days after [p1.he] {vanished|disappeared}.
[p1.full] {left|set off from} home in [street], [town], at [time] on [weekday] and was {last seen|caught on camera} near [seen] about {20|40} minutes later.
[p1.He] was wearing a {grey hooded top|black puffer jacket|green school blazer}, {blue jeans|dark trousers} and {white trainers|black boots}, and was carrying a {red|navy} rucksack.
~ [p1.His] mother, [f2.full], [f2.age:35-52], said it was {"totally out of character"|"not like [p1.him] at all"}. "[p1.first] has never even been late for tea," she said.
~ "If you can hear this, you're not in trouble. {We just want you home|The dog is waiting by the door|Please ring me}," [f2] said {through tears|at a press conference}.
~ Det Insp [p3.full], of [county] Police, said officers were "{increasingly|very} concerned" {for the teenager's welfare|because of the cold weather}.
~ [p3] said [p1.first]'s phone had been {switched off|out of use} since {that evening|[weekday2]} and [p1.his] bank card had not been used.
~ {More than|About} [n1:80-400/20] volunteers, {among them|including} pupils from [school], spent the weekend {handing out leaflets|searching woods and fields}.
~ Divers have been {searching|in} a {reservoir|canal|lake} and a helicopter has been used.
? Head teacher [p4.full] described [p1.first] as "a {bright|quiet|funny} and popular student" who {plays the [instrument]|hopes to study medicine}.
? Police have spoken to the driver of a {silver|white} car seen in the area, who is {not a suspect|being treated as a witness}.
? There have been {unconfirmed|possible} sightings in [town2] and as far away as {London|Glasgow|Cardiff}.
Anyone with information {is asked to|should} call 101 {or the charity [charity]|and quote reference number [n2:200-900]}. "Someone out there knows {something|where [p1.he] is}," [p3] {said|added}.

# us police shooting inquiry
{A police officer|An officer} in [town], [county], {has been placed on leave|is under investigation} after shooting {and wounding|at} a [m1.age:19-54]-year-old man who {was holding a cell phone|had been reported for playing loud music|was running from a traffic stop}.
[m1.full] was hit in the {[body]|back} {as he stood|when he was} in the {parking lot of a grocery store|driveway of his own home} on [weekday] night, {police|officials} said.
He was taken to [hospital], where he was in {stable|serious but stable} condition.
~ {Cell phone video|Dashcam video} of the {incident|shooting}, which has been {viewed|watched} [n1:2-9] million times, shows the officer shouting "{Hands, hands|Get on the ground|Drop it}" before firing [w1:3-9] shots.
~ "He did everything they asked him to do," said his sister, [f2.full]. "{He has a little girl.|He was going to be married in [month].|How is this still happening?}"
~ Chief [p3.full] asked for {calm|patience} and promised a "full and {transparent|independent}" {investigation|inquiry}.
~ The officer, [p4.full], [p4.age:24-48], has been with the department for [w2:2-16] years. {The police union said [p4.he] feared for [p4.his] life|Records show [p4.he] had never fired [p4.his] weapon before}.
~ Several hundred people {marched|gathered} outside {city hall|police headquarters} {chanting [m1]'s name|holding candles}, and [n2:6-38] were arrested.
? Attorney [p5.full], who represents the family, said [m1] {was unarmed and had no criminal record|posed no threat to anyone}. "{What we see on that tape is inexcusable|There is no excuse for this}," [p5.he] said.
? Mayor [p6.full] {canceled a trip to [city]|met with the family} and called the footage "{hard to watch|deeply troubling}".
? The state attorney general's office {has taken over|will review} the case.
Prosecutors are expected to decide {by [month2]|within [w3:4-12] weeks} whether to {file charges|take the case to a grand jury}. "We're not going {anywhere|home} until we get answers," [f2] said.

# uk fake doctor
@job2: barman | double glazing salesman | fitness instructor | driving instructor | zoo keeper | drama student
A former [job2] who posed as a {doctor|dentist|vet|pilot|solicitor} for [w1:2-9] years has been {given a suspended sentence|jailed for [n1:14-40] months|found guilty of fraud}.
[p1.full], [p1.age:26-59], {bought a fake degree certificate online for £[n2:40-400/20]|copied a diploma from the internet|borrowed a cousin's papers} and {fooled|took in} {colleagues|employers} at [w2:2-5] different firms.
[p1.He] {earned|was paid} more than £[n3:70-450/10],000 before a {receptionist|trainee|customer} {became suspicious|noticed a spelling mistake on the certificate}.
~ [town] Magistrates' Court heard that [p1] had "{watched videos to learn the basics|picked up the jargon from television dramas|carried a bag full of old textbooks}".
~ "[p1.He] was charming, well dressed and completely convincing," said [p2.full], who worked with [p1.him] {in [town2]|for [n4:7-20] months}.
~ {One victim|A former client}, [p3.full], [p3.age], said [p3.he] felt "{stupid|violated|let down}" and had {lost £[n5:3-20],000|needed treatment to put things right}.
~ When police questioned [p1.him], [p1] said it had "{started as a bet|just got out of hand|been a cry for help}".
~ [p4.full], defending, said [p1] had {always dreamed of a career that [p1.he] never had the grades for|wanted to impress [p1.his] [p1.father]}.
? "No one was seriously harmed, but that was {more by luck than judgement|pure good fortune}," said prosecutor [p5.full].
? Officers who searched [p1]'s flat found {[w3:3-9] white coats|a wall of framed certificates|a drawer full of name badges}.
? Checks have {now been tightened|since been introduced}, a spokesman said.
Chairman of the bench [p6.full] told [p1] [p1.he] was "{a fantasist|a very accomplished liar}" and ordered [p1.him] to {pay £[n6:2-15],000 in compensation|do [n7:120-300/20] hours of unpaid work}.
Outside court, [p1] {told reporters [p1.he] planned to write a book|covered [p1.his] face with a newspaper|refused to comment}.
'''
