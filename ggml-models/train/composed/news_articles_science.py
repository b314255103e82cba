"""Templates about health, science and nature for `news_articles`."""

TEMPLATES = '''
# any food study
{Regularly consuming|Having more|A daily portion of} [food] {could|may} {cut|lower|reduce} the risk of [illness], {a study suggests|according to new research|scientists say}.
Researchers at [university] followed [n1:3-94],[n2:100-890/10] {adults|men and women} aged [n3:35-50] to [n4:65-80] for an average of [w1:6-19] years.
Those who ate the most were [n5:14-42]% less likely to develop the condition than those who {ate the least|avoided it altogether}, the team {report|write} in the journal [journal].
~ "{We were surprised by the size of the effect|The results were remarkably clear}, but this does not prove cause and effect," said the lead author, Prof [p1.full].
~ [p1] said compounds {in the food|known as polyphenols} might {reduce inflammation|protect blood vessels|slow the damage to cells}.
~ The {link|effect} {was strongest in|seemed greatest among} {women|smokers|people over 60} and held even when {exercise, weight and income|age and smoking} were taken into account.
~ Dr [p2.full], of the charity [charity], who was not involved in the {study|work}, urged caution. "{People who eat well tend to live well in other ways|No single food is a magic bullet}," [p2.he] said.
? The participants filled in a diary {twice a year|every [w2:3-6] months} and gave blood samples.
? [illness] affects about [n6:1-4] in every {100|1,000} people and costs health services {billions|[cur][n7:2-19]bn} a year.
? Earlier research by [p1]'s group found a similar {benefit|pattern} for [food2].
? The work was partly paid for by {a trade body|[company]}, which {had no part in the analysis|makes [food2]}.
[p1] now hopes to {run a trial with [n8:200-900/50] volunteers|find out how much is needed}. "{I have started eating them myself|I wouldn't tell anyone to change their diet overnight}," [p1.he] said.

# any sleep and screens
@group: teenagers | office workers | new parents | shift workers | students | older people
{Using a phone in bed|Going to bed after midnight|Sleeping for less than six hours|Napping in the afternoon} {could be harming|may damage} the {memory|mood|heart health} of [group], {researchers warn|a study has found}.
A team from [university] asked [n1:240-980/10] [group] in [country] and [country2] to wear a wrist sensor for [w1:3-12] weeks.
{They found that|The results, published in [journal], showed that} those with the worst habits {scored|did} [n2:12-38]% {worse|lower} in {tests of attention|word tests}.
~ "{Sleep is not a luxury|We treat sleep as something we can borrow}, and {the bill always comes|the brain keeps the score}," said Dr [p1.full], who led the {research|work}.
~ [p1] said even [n3:20-45] minutes more a night {made a difference|was enough to see a change} within {days|a fortnight}.
~ Brain scans of [n4:24-80] volunteers {showed|revealed} less activity in an area {linked to|involved in} memory.
~ [p2.full], [p2.age], a [job] who took part, said [p2.he] had {been shocked by [p2.his] results|bought an old-fashioned alarm clock}. "{I was checking messages at three in the morning|I thought everyone felt like that}," [p2.he] said.
~ But Prof [p3.full], of [university2], said the sample was small. "{Tired people may simply look at their phones more|We should not frighten people}," [p3.he] {added|told the BNN}.
? Experts {recommend|advise} between seven and nine hours a night for {most adults|most people}.
? A survey by [charity] {found|suggested} that [n5:31-68]% of [group] keep a phone {under the pillow|next to the bed}.
? [p1] {advises|recommends} a dark, cool room, no caffeine after {noon|4pm|lunch} and "{a boring book|a bath|ten minutes of quiet}".
The researchers {plan|hope} to repeat the study with {children|[n6:2-9],000 people} {next year|in [month]}. "{If there were a pill that did all this, we would all be taking it|It costs nothing and it works}," [p1] said.

# any new species
@creature: frog | spider | orchid | beetle | shrew | gecko | deep-sea fish | bat | snail | bird
A {tiny|brightly coloured|previously unknown} [creature] {has been discovered|has been found} in {a remote forest|a cave|a mountain valley|a swamp} in [country], {scientists have announced|researchers say}.
The [creature], which is {barely [n1:9-28]mm long|no bigger than a thumbnail}, was spotted by {chance|accident} when biologist [p1.full] {stopped to tie [p1.his] boot|dropped [p1.his] torch|got lost in the rain}.
"{I knew at once that it was something special|I thought I was seeing things|I actually screamed}," said [p1], of [university].
~ It took [w1:3-9] years {of work|and [w2:3-8] expeditions} to {confirm|prove} that it was new to science.
~ Genetic tests {showed|suggest} that its closest relative lives [n2:800-4000/100]km away, in [country2].
~ The team has named it after {[p1]'s [p1.grandfather]|a guide, [p2.full], who carried the equipment}.
~ "{It has probably been there for two million years|The local people have known it all along}," said co-author [p3.full], {writing|whose findings appear} in the journal [journal].
~ Fewer than [n3:50-400/50] are thought to {exist|survive}, and {logging|mining|a planned road} {threatens|could destroy} their home.
? [p1], [p1.age], has now described [w3:5-24] species, {including|among them} a [creature2] {last year|in [y1:2007-2016]}.
? At night the [creature] {gives off a faint blue glow|makes a sound like a squeaking door|smells of burnt sugar}, {a feature|something} that puzzles {experts|researchers}.
? {Conservation group|The charity} [charity] has {called for|demanded} {a nature reserve|protection for the area}.
[p1.He] will return in [month] {with cameras|to count them}. "{You cannot save what you do not know about|How many others are we losing before we find them?}" [p1.he] said.

# any space probe
@probe: Aurora | Pathseeker | Horizon-2 | Kestrel | Odysseia | Lumen | Tycho Express
@target: an icy moon of Saturn | a comet | the far side of the Moon | an asteroid shaped like a peanut | Venus
The [probe] spacecraft has {reached|arrived at} [target] after a journey of [n1:210-890/10] million miles, {prompting|leading to} {cheers and tears|scenes of joy} at its control room in [city].
A signal {confirming|showing} that the probe had {survived|made it} came through at [time] on [weekday], [w1:3-14] minutes {later than expected|late}.
"{Those were the longest minutes of my life|I forgot to breathe|We did it, we really did it}," said mission manager [p1.full], who has spent [n2:11-24] years on the project.
~ The [cur][n3:180-940/10]m mission was {launched|sent into space} in [month] [y1:2008-2014] and was {almost lost|nearly abandoned} when an antenna {jammed|froze}.
~ Engineers led by [p2.full] {fixed the fault|solved the problem} by {turning the craft towards the Sun|switching a computer off and on again}.
~ The probe carries [w2:6-14] instruments, {including|among them} a drill {no longer than a pencil|built at [university]}.
~ Its first pictures show {cliffs|ridges} up to [n4:300-900/50] metres high and {dark streaks|a strange smooth plain} that {nobody can explain|have delighted geologists}.
~ "{Every textbook will have to be rewritten|It looks like nothing we predicted}," said Prof [p3.full], of [university].
? {Scientists|Researchers} hope to {learn|find out} whether {water|the chemistry of life} {came to Earth from such bodies|exists beneath the surface}.
? [p1], who {grew up|was born} in [town] and {built [p1.his] first rocket at ten|failed physics at school}, {said [p1.he] had not slept for two days|celebrated with a bag of chips}.
? Critics have {questioned|attacked} the cost. "{We have hospitals to build|There are better uses for the money}," said the politician [p4.full].
The probe will {work|send back data} until at least [y2:2027-2032]. {After that it will drift for ever|Then its batteries will run out}. "{It is a lonely little thing, but it has a lot of friends|I will miss it}," [p1] said.

# uk hospital failings
A [p1.age:34-79]-year-old [p1.father] of [w1:2-5] died after {doctors|staff} at [hospital] {failed to spot|missed} {sepsis|a blood clot|a burst appendix|a heart attack}, an inquest has {heard|been told}.
[p1.full], a [job] from [town], {was sent home with painkillers|waited [n1:11-29] hours on a trolley} {despite|after} {complaining of severe pain|collapsing at work} on [date].
[p1.His] [p1.spouse], [p2.full], said [p1.he] had been "{treated like a nuisance|begging for help}".
~ "{I told them again and again that something was wrong|They said it was a virus and there was a queue}," [p2] told the coroner, [p3.full].
~ The {junior doctor|registrar} on duty, Dr [p4.full], said the ward was [w2:3-6] nurses short and [p4.he] had {been responsible for|been looking after} [n2:28-64] patients.
~ "{I think about that night every day|I should have asked for a second opinion}," [p4] said.
~ A blood test {was not read for|lay in a tray for} [w3:4-9] hours, {the hearing was told|by which time it was too late}.
~ An independent expert, Prof [p5.full], said [p1] would {probably|almost certainly} have {lived|survived} with {antibiotics|an earlier scan}.
? The hospital was {criticised by inspectors|placed in special measures} in [y1:2012-2018] and has paid out £[n3:2-17]m in {compensation|claims}.
? [p1], {who coached a children's team|a keen fisherman}, had been {looking forward to|planning} {a holiday in [resort]|[p1.his] daughter's wedding}.
A spokesman for the {trust|hospital} {apologised|offered sincere condolences} and said {new checks had been introduced|lessons had been learned}. [p3] recorded a {narrative verdict|verdict of natural causes contributed to by neglect}. "{Nothing will bring [p1.him] back, but no other family should go through this|Sorry is just a word}," [p2] said {outside court|afterwards}.

# any zoo birth
A {rare|healthy} baby [wild] has been born at {a zoo|a wildlife park} {near|in} [town], {the first|only the second} {in [n1:12-40] years|to be bred there}.
The {youngster|newborn}, which has been named [pet], arrived {at|shortly before} [time] on [date] and weighed {just [n2:110-900/10] grams|less than a bag of sugar}.
Head keeper [p1.full] said {staff|the team} had {watched on camera|kept a round-the-clock vigil}. "{There wasn't a dry eye in the room|We didn't dare to cheer in case we woke it}," [p1.he] said.
The mother, [pet2], {was brought from|came from} a zoo in [city] {in [y1:2012-2018]|as part of a breeding programme}.
~ At first the baby's mother {ignored|rejected} it, and [p1] {had to feed it|fed it} {every two hours|with a bottle} {for [w1:5-14] days|at home}.
~ "{My [p1.spouse] is used to finding odd things in the kitchen|I have had less sleep than with my own kids}," said [p1], [p1.age].
~ The [wild] is under {threat|pressure} in the wild {because of|from} {hunting|the loss of its habitat|climate change}, with {numbers down by [n3:30-70/5]% since [y2:1980-1999]|perhaps [n4:2-9],000 left}.
? {Visitors|Families} queued for {up to [w2:2-4] hours|most of the morning} to {see|catch a glimpse of} [pet] on [weekday].
? "{It's so fluffy I want to take it home|It looked right at me}," said [p2.full], aged [n5:5-11].
? But {the campaign group|the charity} [charity] said zoos {were no place for|should not breed} such animals. "{A cage is a cage, however cute the baby|The money should be spent in the wild}," said its director, [p3.full].
? [pet] will {stay with|remain at the side of} [pet2] for {about [w3:8-20] months|at least a year}.
The {zoo|park}, which has [n6:180-640/20] animals and {attracts|draws} [n7:110-690/10],000 visitors a year, is {asking for|inviting} {donations|people to adopt the animal}. "{It is already the boss around here|Every morning I look in first, just to be sure}," [p1] said.
'''
