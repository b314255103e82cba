"""Templates about sport for `news_articles`."""

TEMPLATES = '''
# uk late winner
@move: volleyed in from the edge of the area | headed home from a corner | curled a free-kick into the top corner | tapped in after a goalkeeping error | slid the ball under the keeper
@div: the Premier Division | League One | the Championship | the second round of the cup | the Northern League
[m1.full] scored in the {86th|88th|90th|93rd} minute as [club] {came from behind to beat|fought back to beat} [club2] 2-1 in [div] {on [weekday]|at a {rain-soaked|freezing|packed} [street] ground}.
The {visitors|away side} had {taken|gone into} the lead after [n2:9-38] minutes when [m2.full] [move].
But [m3.full] {levelled|equalised} from the penalty spot {before the break|early in the second half|on the hour} after a foul by [m4.full].
Then, with {both sides settling for a draw|extra time looming|many fans already leaving}, [m1] {pounced on a loose ball|beat two defenders|met a cross from [m3]} to {win it|send the home crowd wild}.
~ It was the [m1.age:19-33]-year-old's [n9:11-19]th goal of the season and his first since {[month]|a five-month injury lay-off}.
~ [m4] was {booked|sent off} for a second time this season {for dissent|after a clash with [m1]}.
~ [club2] hit the {post|crossbar} through [m5.full] and had {two|three} {strong|good} appeals for a penalty turned down.
? The defeat {leaves|left} [club2] [w2:3-9] points {above the relegation zone|adrift of safety|behind the leaders}.
? A crowd of [n3:4-31],[n4:110-890] saw the match.
[club] manager [m6.full] said: "{The boys never know when they are beaten|I've told him he can play until he's 40|That is what this club is all about}. {We made hard work of it|It was not pretty}, but I'll take the three points."
? "[m1] has been struggling with a {knee|hamstring|thigh} problem and he was only meant to play for half an hour," [m6] added.
His opposite number, [m7.full], was {furious|less happy}: "{We were the better team for 80 minutes|I can't believe we have lost that|The referee has cost us}. You have to {clear your lines|defend better than that|kill teams off}."
[club] travel to [club3] next, while [club2] {are at home to|host} [club4] on [weekday2].

# uk transfer
[club] have {signed|completed the signing of} {midfielder|striker|winger|defender} [m1.full] from [club2] for {a fee of £[n1:2-38]m|an undisclosed fee|a club-record £[n2:12-60]m}.
The [m1.age:18-31]-year-old has {agreed|put pen to paper on} a {three|four|five}-year {deal|contract} and {will wear|has been given} the number [n3:7-29] shirt.
"{As soon as I heard about the interest, my mind was made up|This is a massive club with great fans|I can't wait to get started}," [m1] told the club's website.
~ [m1] {began|started} his career with [club3] and has scored [n4:12-74] goals in [n5:90-240] {league appearances|games}.
~ He has {also been capped|played} [w1:3-28] times by [country], {scoring on his debut|for whom he scored twice} against [country2].
~ Manager [m2.full] said: "{We have been tracking him for two years|He is exactly the type of player we have been missing|There were a lot of clubs after him}. {He can play anywhere across the front|He brings pace and personality}."
~ [club4] had {also been|been} {linked with|interested in} [m1], but {were unwilling|refused} to meet his wage demands of about £[n6:20-95/5],000 a week.
~ The {move|transfer} {nearly fell through|was in doubt} when {a medical showed up an old knee injury|the paperwork arrived [n7:6-40] minutes before the deadline}.
? [m1] {had been|was} {out of favour|unsettled} at [club2] {since falling out with|under} their head coach, [m3.full].
? [m3] {confirmed|admitted} the player {wanted to leave|had asked for a transfer}. "{You can't keep someone whose heart is elsewhere|I wish him well}," he said.
? The arrival of [m1] {casts doubt on|raises questions about} the future of [m4.full], who has {a year left on his deal|been told he can leave}.
[m1] could make his {debut|first appearance} against [club5] on [weekday], a match [club] {must win|need to win} to {stay in touch with the leaders|ease fears of relegation}.

# us basketball thriller
[m1.full] scored [n1:31-52] points, {including|among them} a {3-pointer|jumper|hook shot} at the buzzer, to lift the [team] {over|past} the [team2] [n2:109-111]-[n3:106-108] {in overtime|in a wild finish} on [weekday] night.
[m2.full] added [n4:17-28] points and [n5:8-15] rebounds for the [team], who have won [w1:4-11] {straight|in a row}.
"{I saw the clock and just let it go|Coach drew it up and I wanted the ball|My legs were gone, so I just prayed}," [m1] said.
~ The [team] trailed by as many as [n6:14-24] in the second quarter before {going on a 19-2 run|switching to a zone defense|their bench caught fire}.
~ [m3.full] had [n7:25-34] points for the [team2], but he {missed two free throws late|fouled out with two minutes left|limped off with a sprained ankle}.
~ "{We stopped moving the ball|We beat ourselves|That one is going to hurt for a while}," [m3] said.
~ [team2] coach [m4.full] was {called for a technical foul|ejected} after {arguing|complaining} about a {charging|goaltending} call in the third.
~ It was the first {meeting|game} between the teams since the [team] {eliminated|swept} the [team2] in last year's playoffs.
? [m1], [m1.age:21-34], a {second-round pick|former walk-on} {out of|from} [university], {had averaged just [n8:11-19] points|had shot poorly} over his last five games.
? "{He's been in the gym at six every morning|That's the kid we know}," [team] coach [m5.full] said. "{I'm not surprised one bit|He earned that}."
? The [team] {outrebounded|outscored} the [team2] in the paint [n9:48-62]-[n10:30-44].
? Rookie [m6.full] had [w2:8-14] assists off the bench.
The [team] {play at|visit} the [team3] on [weekday2]. The [team2] {fell|dropped} to [n11:18-27]-[n12:9-17] and {return home|will try to end their slide} {against|to face} the [team4].

# any tennis upset
@event: quarter-finals | semi-finals | fourth round | final
{The unseeded|The little-known} [f1.full], of [country], {stunned|knocked out|upset} {top seed|world number two|defending champion} [f2.full] 6-4 3-6 7-5 to reach the [event] of the [city] Open.
[f1], ranked [n1:38-190], {saved|fought off} [w1:2-6] match points {in front of|before} a {noisy|disbelieving} crowd of [n2:6-15],000.
"{I don't know what to say|I'm still shaking|I have dreamed of this since I was six}," [f1] said {on court|afterwards}. "{I just told myself to hit the ball|I was two points from going home}."
~ The match lasted [w2:2-3] hours and [n3:14-56] minutes and was {interrupted twice by rain|played in fierce heat}.
~ [f2], who won the title in [y1:2010-2017], {made [n4:41-68] unforced errors|served [n5:9-17] double faults|broke a racket in the second set}.
~ [f1] {hit|struck} [n6:33-57] winners, {most of them|many} from the backhand {side|wing}.
~ At 5-5 in the final set, [f2] {called for the trainer|left the court} with {a back problem|cramp}, but [f1] {refused to be distracted|held serve to love}.
? [f2] {was gracious in defeat|smiled as [f2.he] left the court}. "[f1.He] {deserved it|played the big points better}, and I {didn't|was not brave enough}," [f2.he] said.
? [f1] was {given|handed} a first racket by [f1.his] [f1.grandfather], {who used to string them in a shed|a former [job]}.
? [f1.His] coach, [p3.full], said [f1.he] had "{the heart of a lion|no idea how good [f1.he] can be}".
? The victory is worth at least [cur][n7:90-700/10],000, {more than [f1] had earned in [f1.his] whole career|nearly double [f1.his] previous prize money}.
[f1] will {now|next} play {the winner of the match between [f4.full] and [f5.full]|fourth seed [f4.full]} on [weekday]. "{Tonight I'm going to eat a huge pizza|I need an ice bath and some sleep}," [f1.he] said.

# uk manager sacked
[club] have {sacked|parted company with|dismissed} manager [m1.full] after {a run of [w1:5-12] games without a win|Saturday's 5-0 defeat by [club2]|just [n1:61-240] days in charge}.
The [m1.age:39-63]-year-old {was told of the decision|learned his fate} {in a phone call|at a meeting with the chairman} on [weekday] morning, with the club [w2:2-4] points {from safety|above the bottom three}.
Chairman [m2.full] said {it had been "a painful decision"|the board had been left with "no choice"}.
~ "[m1] is a {decent|hard-working|honest} man and leaves with our thanks, but {results have simply not been good enough|this club cannot afford to go down}," [m2] said.
~ {Fans|Supporters} had {called for him to go|booed the team off} after {the draw with|a cup exit against} non-league [club3].
~ [m1] {spent|was given} £[n2:9-68]m on new players in the summer, {including|among them} striker [m3.full], who has {scored only twice|yet to find the net}.
~ Coach [m4.full] will {take charge|look after the team} {until a successor is found|for the trip to [club4]}.
? Captain [m5.full] said the players {had to take their share of the blame|felt they had let him down}. "{We are the ones who cross the white line|Nobody in that dressing room can hide}," he said.
? In a statement, [m1] said he was "{extremely disappointed|devastated|proud of what we built}". "{I am certain we would have stayed up|I did not get the time I needed}," he added.
? The former [club5] {defender|midfielder|goalkeeper} {succeeded|replaced} [m6.full] in [month] and {began with|won} {four straight victories|three of his first four matches}.
? He is the [n3:4-9]th manager in the division to lose his job {this season|since [month2]}.
[m7.full], who has been out of work since leaving [club6], is the {bookmakers' favourite|early favourite} to {take over|succeed him}. {But it is understood the club may look abroad|A club spokesman would not comment}.

# any marathon
@dress: a rhinoceros | a giant banana | a deep-sea diver | a telephone box | a Viking | a wedding cake | a dinosaur | a lobster
A [p1.age:58-91]-year-old [p1.grandfather] {has become|became} the oldest {person|runner} to finish the [town] Marathon dressed as [dress], {crossing the line|finishing} in [w1:6-9] hours and [n1:11-57] minutes.
[p1.full], {a retired|a former} [job], {raised|has raised} [cur][n2:3-48],000 for [charity] in memory of [p1.his] [p1.spouse], {who died in [month]|who died of [illness]}.
"{My feet are killing me, but I'd do it again tomorrow|I had to go sideways through the finish|I could hear my heart above the band}," [p1.he] said.
~ {Volunteers|Organisers} {kept|held} the finish open {for an extra hour|after dark} so that [p1] could {complete|finish} the race.
~ [p1] only {took up|started} running {at the age of [n3:52-56]|after a heart attack}, when [p1.his] doctor {told [p1.him] to lose weight|warned [p1.him] about [p1.his] blood pressure}.
~ The costume weighs [n4:7-19]kg and was {made by|borrowed from} {a neighbour|a local theatre|[p1.his] [p1.son]}.
~ The men's race was won by [m2.full], of [country], in two hours [w2:6-12] minutes, {while [f3.full] won the women's race|with [f3.full], of [country2], first among the women}.
~ "I was tired at [n5:18-22] miles, and then {the crowd carried me|I thought of my children}," [m2] said.
? About [n6:8-39],000 people {took part|ran} in {warm|cold and windy|perfect} conditions, and [n7:22-90] were treated for {minor injuries|exhaustion}.
? [f3] missed the course record by only [w3:3-19] seconds.
? [p1]'s [p1.son], [p4.full], {met [p1.him] at the finish|walked the last mile with [p1.him]}. "{[p1.He] is the most stubborn person I know|We told [p1.him] not to do it, so of course [p1.he] did}," [p4] said.
[p1] {has already signed up|plans to return} next year. "{Next time I'll try to beat the milkman|I might choose something lighter|There's no point sitting at home}," [p1.he] said.

# uk boxing
[m1.full] {kept|retained} his {British|European|world} {middleweight|welterweight|cruiserweight} title {by stopping|with a brutal stoppage of} [m2.full] in round [w1:6-11] {in|at a sold-out arena in} [town].
The champion {was knocked down in the second|had a cut over his left eye}, but {recovered|boxed his way back} to {take control|wear down his opponent}.
A {left hook|right uppercut|body shot} {dropped|floored} [m2] and, although he {got up at the count of eight|beat the count}, the referee {waved it off|stepped in} {seconds later|after another flurry}.
~ "{He is the toughest man I have ever fought|I had to dig very deep in there|I heard my trainer screaming and I woke up}," said [m1], [m1.age:23-36], who is unbeaten in [n1:17-34] fights.
~ [m2], [m2.age:24-37], was taken to {hospital|[hospital]} {as a precaution|for checks}, but was {sitting up and talking|later released}.
~ [m2]'s trainer, [m3.full], {complained that it had been stopped too early|said he had been about to throw in the towel}.
~ The {build-up|week} had been {bad-tempered|ugly}, with the pair {separated by security|fined £[n2:2-10],000 each} at the weigh-in.
? The judges had it [n3:57-59]-[n4:54-56] in favour of {the challenger|[m2]} at the time.
? [m1], {a former [job]|who used to work as a [job]}, {dedicated the win to|fought in memory of} his {late father|first coach}, [m4.full].
? Promoter [m5.full] said {a unification fight in [city]|a summer stadium bout} was "{almost done|there to be made}". "{The whole country wants to see it|Everybody has a price}," he said.
? On the undercard, [f6.full] {won|outpointed} [f7.full] over [w2:8-10] rounds.
[m1] said he would {take a break|go on holiday to [resort]} before {deciding on|thinking about} his next {fight|move}. "{I've got a baby due in [month]|My [mum] wants me to stop|There is only one man left to beat}," he {said|told reporters}.

# us coach tribute
{Hundreds|Thousands} of people {packed|filled} the gym at [school] on [weekday] to {say goodbye to|honor} [m1.full], the {football|basketball|baseball} coach who {died last week|died of [illness]} at age [m1.age:58-86].
[m1] {won|led his teams to} [n1:310-640] {games|victories} and [w1:3-9] state titles in [n2:29-44] years at the school in [town], [county].
"{He taught me how to lose before he taught me how to win|He knew the name of every janitor|I would not be alive without that man}," said [m2.full], who played for him in the 1980s and is now {a judge|a surgeon|an assistant coach with the [team]}.
~ Players past and present wore {his trademark red cap|blue ribbons|whistles around their necks}.
~ His wife of [n4:31-55] years, [f3.full], {received|was given} the ball from {his final game|the [y1:1988-2004] championship}.
~ "{He was married to that team, and I was the mistress|He never once brought a loss home}," [f3] said, {drawing laughter|to warm applause}.
~ Principal [p4.full] {announced|said} that the {field|court} would be {named after|named for} the coach.
? [m1], {the son of a coal miner|who grew up on a farm}, {turned down|rejected} offers from [w2:2-5] colleges, {including|among them} [university].
? He {also taught|was also known for teaching} {algebra|history|driver's ed}, and {used to pay for lunches|bought shoes} for {students who had no money|kids who went without}.
? In [y2:2005-2012] he {made headlines|was criticized} when he {benched his own grandson|canceled a game} over {poor grades|bullying}.
? "{Character first, score second|Be on time, tell the truth}," {read|said} a banner {above the stage|behind the casket}.
Freshman [m5.full], [m5.age:14-15], {never got to play|played just one game} for [m1]. "{He shook my hand on the first day and asked about my [mum]|He told me I'd grow}," [m5] said. "{I'm going to remember that|I still have the note he wrote me}."

# any cycling crash
@stage: a mountain pass | a narrow bridge | the coast road | a rain-soaked bend | the final climb
[m1.full], of [country], {won|claimed} stage [w1:3-17] of the Tour of [country2] after a crash on [stage] {brought down|ended the hopes of} {overall leader|race favourite} [m2.full].
[m2], who {began|started} the day [n1:31-58] seconds {ahead|clear}, {hit|slid into} {a barrier|a parked motorbike|a patch of oil} with [n2:11-38]km to go and {broke|fractured} a [body].
[m1], [m1.age:20-36], {broke away|attacked} {shortly afterwards|on the next bend} to {finish alone|win} in [w2:4-5] hours and [n3:12-51] minutes.
~ "{I heard the noise, but I did not see who it was|You never want to win like this|My first thought was for [m2]}," [m1] said.
~ [m3.full] was second, [w3:12-48] seconds {back|behind}, and {takes over|now holds} the leader's jersey.
~ The {race doctor|team doctor}, [p4.full], said [m2] {had been conscious throughout|would need an operation} at {a hospital in [city]|hospital}.
~ {A handful|Dozens} of riders {complained|protested} about {the state of the road|the dangerous descent} and {crossed the line|rode in} together {in protest|ten minutes down}.
? Organisers {rejected|dismissed} the criticism. "{The route was checked twice this week|Cycling has always had its risks}," race director [p5.full] said.
? [m2], {winner|champion} in [y1:2009-2017], {had missed most of last season|only returned from a knee injury in [month]}.
? Team manager [p6.full] {fought back tears|looked shaken}. "{[m2.He] worked eight months for this|Twelve seconds of bad luck and it is all gone}," [p6.he] said.
? It was [m1]'s {first|second|third} {stage win|victory} {this year|in a major tour}.
The {race|tour} {continues|resumes} on [weekday] with a [n4:140-228]km stage {to|ending in} [city2], {where sprinters should have their chance|over five more climbs}.
'''
