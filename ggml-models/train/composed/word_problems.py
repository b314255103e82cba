"""Grade-school mathematics word problems of two to five steps.

`prompts(seed, count)` returns distinct problems, composed from templates with
typed slots. A template names people ({A}, {B}, ...), things ({item.many}) and
numbers. A condition on the numbers makes every result whole, or whole in
cents. Words in square brackets, such as [buys|gets], are alternatives.
"""

import random
import re
from fractions import Fraction
from math import lcm
from types import SimpleNamespace

SHE = """
Aaliyah Alice Amara Amelia Anika Beatriz Bella Chloe Clara Daniela Diana Elena
Elif Emma Esther Fatima Freya Grace Greta Hannah Helen Ines Ingrid Iris Ivy
Jasmine Julia Kavya Keiko Laura Leila Lena Lily Lucia Maria Maya Mei Mia Nadia
Naomi Nina Nora Olivia Paula Priya Rosa Ruby Sara Sofia Stella Tessa Vera Yara
Zoe""".split()
HE = """
Aaron Adam Ahmed Amir Andre Arjun Ben Carlos Chen Daniel David Diego Dmitri
Elias Ethan Felix Finn Gabriel Hassan Henrik Hugo Isaac Ivan Jakob Jamal Joel
Jonas Kenji Kofi Leo Liam Lucas Malik Marco Mateo Max Nathan Noah Oliver Omar
Oscar Pablo Peter Rafael Ravi Ryan Samir Simon Tariq Theo Thomas Victor Walter
Yusuf""".split()


class Person:
    """A name that also knows its pronouns."""

    def __init__(self, name):
        he = name in HE
        self.name = name
        self.he, self.him, self.his = (
            ("he", "him", "his") if he else ("she", "her", "her"))
        self.He, self.His = self.he.capitalize(), self.his.capitalize()
        self.sibling = "brother" if he else "sister"
        self.child = "son" if he else "daughter"

    def __str__(self):
        return self.name


class Item:
    """A thing with its singular and its plural."""

    def __init__(self, one, many=None):
        self.one = one
        self.many = many or one + "s"
        self.a_one = ("an " if one[0] in "aeiou" else "a ") + one


def items(text):
    """Read "one/many" entries, separated by commas."""
    return [Item(*entry.strip().split("/")) for entry in text.split(",")]


FRUIT = items("apple, orange, pear, peach/peaches, plum, mango/mangoes, lemon,"
              "banana, kiwi, apricot, coconut, pomegranate")
TOYS = items("marble, sticker, trading card, toy car, building block, button,"
             "postcard, stamp, seashell, coin, badge, bead, comic book")
BAKED = items("muffin, cookie, bagel, roll, pretzel, scone, waffle, cupcake,"
              "cinnamon bun, brownie, meat pie, doughnut")
SUPPLIES = items("notebook, folder, marker, pencil case, ruler, pair of "
                 "scissors/pairs of scissors, calculator, paintbrush/"
                 "paintbrushes, glue stick, sketch pad")
CLOTHES = items("shirt, sweater, scarf/scarves, jacket, dress/dresses, hat,"
                "pair of jeans/pairs of jeans, pair of gloves/pairs of gloves,"
                "belt, skirt, pair of socks/pairs of socks")
FLOWERS = items("rose, tulip, daisy/daisies, lily/lilies, sunflower, orchid,"
                "carnation, daffodil, marigold, iris/irises")
CRAFTS = items("bracelet, necklace, candle, vase, bowl, wooden spoon, quilt,"
               "birdhouse, basket, greeting card, clay mug, picture frame,"
               "keychain, woolen cap")
GOODS = items("lamp, chair, bicycle, tent, backpack, radio, printer, blender,"
              "guitar, desk, camera, keyboard, skateboard, toaster, telescope,"
              "rug, microwave, suitcase, bookshelf/bookshelves, heater")
SNACKS = items("sandwich/sandwiches, slice of pizza/slices of pizza, hot dog,"
               "salad, burrito, bowl of soup/bowls of soup, taco, wrap,"
               "plate of noodles/plates of noodles, smoothie")
ANIMALS = items("goat, cow, horse, pig, rabbit, hen, llama, goose/geese, pony/"
                "ponies, turkey, donkey, alpaca")
BOOKS = items("book, novel, magazine, dictionary/dictionaries, atlas/atlases,"
              "cookbook, biography/biographies")
VEHICLES = items("bus/buses, van, train, truck, car, motorcycle")
TREES = items("oak tree, pine tree, maple tree, cherry tree, birch tree,"
              "olive tree, fig tree, walnut tree")
CROPS = items("tomato plant, pepper plant, bean plant, strawberry plant,"
              "pumpkin plant, cabbage, lettuce plant, sunflower")
MATERIALS = "rope ribbon wire fabric string yarn tape".split()
GRAINS = "rice flour sugar oats lentils cornmeal".split()
DRINKS = ["lemonade", "apple juice", "iced tea", "orange juice", "hot cocoa",
          "grape juice", "ginger ale", "coconut water"]
SHOPS = ["a bakery", "a flower shop", "a toy store", "a corner shop",
         "a bookshop", "a hardware store", "a music store", "a pet shop"]
CLUBS = ["chess club", "school choir", "drama club", "hiking club",
         "photography club", "debate team", "robotics club", "swim team"]
DAYS = "Monday Tuesday Wednesday Thursday".split()
SUBJECTS = ["math", "history", "science", "geography", "Spanish", "biology"]
JOBS = ["walking dogs", "washing cars", "mowing lawns", "shoveling snow",
        "babysitting", "tutoring", "raking leaves", "cleaning windows"]
PLACES = ["the beach", "the mountains", "the lake", "the national park",
          "the capital", "the coast", "the farm", "the castle"]
WORKS = ["paintings", "sculptures", "photographs", "old maps", "masks",
         "musical instruments", "ceramics", "costumes"]

# Fractions are written in words or in digits.
WORDED = {(1, 2): "half", (1, 3): "a third", (2, 3): "two thirds",
          (1, 4): "a quarter", (3, 4): "three quarters", (1, 5): "a fifth",
          (2, 5): "two fifths", (3, 5): "three fifths", (1, 6): "a sixth",
          (1, 8): "an eighth"}
PARTS = [Fraction(*pair) for pair in WORDED]
PERCENTS = [5, 10, 15, 20, 25, 30, 40, 50, 60, 75]
TIMES = [2, 3, 4, 5]


def to(first, last, step=1):
    """Return the numbers from first to last, including both."""
    return range(first, last + 1, step)


def whole(value):
    """Tell whether an exact value is a whole number greater than zero."""
    value = Fraction(value)
    return value > 0 and value.denominator == 1


TEMPLATES = []


def problem(text, where=None, **slots):
    """Register a template, the condition on its values, and its slots."""
    TEMPLATES.append((" ".join(text.split()), where, slots))


# Money and shopping.

problem("""{A} [buys|picks up] {n} {item.many} at ${p} each and {m}
{item2.many} at ${q} each. {A.He} pays with ${bill}. How much change does
{A.he} get [back|]?""",
        lambda v: 0 < v.bill - v.n * v.p - v.m * v.q < 60, n=to(2, 8),
        m=to(2, 8), p=to(2, 12), q=to(2, 12), bill=[50, 100],
        item=SUPPLIES, item2=SUPPLIES)
problem("""{A} [wants|would like] to buy a {item.one} that costs ${price}.
{A.He} already has ${have} and earns ${pay} an hour {job}. How many hours does
{A.he} [still have|need] to work to have enough money?""",
        lambda v: whole(Fraction(v.price - v.have, v.pay)) and
        v.price - v.have > v.pay, price=to(60, 400, 5), have=to(10, 120, 5),
        pay=to(6, 18), item=GOODS, job=JOBS)
problem("""A {item.one} costs ${price}. [During a sale|This week] the store
takes {p}% off, and {A} has a coupon for another ${c} off the reduced price.
How much does {A} pay for the {item.one}?""",
        lambda v: v.price * v.p % 100 == 0 and
        v.price * (100 - v.p) > 200 * v.c, price=to(40, 300, 10), p=PERCENTS,
        c=to(2, 15), item=GOODS)
problem("""{A} sells {item.many} at a craft fair for ${p} each. The material
for one {item.one} costs ${c}, and {A.he} paid ${fee} for the table. If {A.he}
sells {n} {item.many}, how much profit does {A.he} make?""",
        lambda v: v.n * (v.p - v.c) > v.fee, p=to(8, 30), c=to(2, 7),
        fee=to(15, 60, 5), n=to(12, 50), item=CRAFTS)
problem("""{A} bought {n} boxes of {item.many} for ${c} each. Every box
contains {k} {item.many}. {A.He} sold all of them for ${p} apiece. How much
money did {A.he} [make|earn] after subtracting what {A.he} had paid?""",
        lambda v: v.k * v.p > v.c, n=to(3, 12), c=to(10, 40), k=to(8, 24, 2),
        p=to(2, 6), item=TOYS)
problem("""{A} saves ${a} every week, and {A.his} {A.sibling} saves ${b} every
week. After {w} weeks they put their money together and buy a {item.one} for
${price}. How much money do they have left?""",
        lambda v: 0 < v.w * (v.a + v.b) - v.price < 80, a=to(5, 20),
        b=to(5, 20), w=to(4, 16), price=to(60, 350, 5), item=GOODS)
problem("""At {shop}, {A} spends {f} of {A.his} money. [Then|After that]
{A.he} spends ${b} on a bus ticket and has ${left} left. How much money did
{A.he} have at [first|the beginning]?""",
        lambda v: whole((v.b + v.left) / (1 - v.f)), f=PARTS, b=to(2, 9),
        left=to(3, 40), shop=SHOPS)
problem("""{A}, {B} and {C} share a meal that costs ${total}. They add a tip
of {p}% and split the bill equally. How much does each of them pay?""",
        lambda v: v.total * (100 + v.p) % 300 == 0, total=to(30, 180, 3),
        p=[10, 15, 20, 25])
problem("""A [ticket|pass] for the {place} costs ${a} for adults and ${c} for
children. {A} books a visit for {n} adults and {m} children and has a voucher
worth ${v}. How much do they [pay altogether|pay in total]?""",
        lambda v: v.a > v.c and v.n * v.a + v.m * v.c > 3 * v.v, a=to(9, 28),
        c=to(4, 14), n=to(2, 6), m=to(2, 9), v=to(5, 20, 5),
        place=["zoo", "aquarium", "museum", "water park", "planetarium",
               "ice rink", "botanical garden"])
problem("""{A} rents a kayak. The rental costs ${base} for the first hour and
${more} for every [additional|further] hour. {A.He} brings the kayak back
after {h} hours and pays with ${bill}. How much change should {A.he}
receive?""",
        lambda v: 0 < v.bill - v.base - (v.h - 1) * v.more < 50,
        base=to(10, 25), more=to(4, 12), h=to(3, 8), bill=[50, 100])
problem("""{A}'s phone plan costs ${base} a month and includes {inc} minutes.
Every extra minute costs {c} cents. In {month}, {A} talked for {used} minutes.
How much was the bill in dollars?""",
        lambda v: (v.used - v.inc) > 0 and (v.used - v.inc) * v.c % 100 == 0,
        base=to(12, 40), inc=to(100, 400, 50), c=[5, 10, 20, 25],
        used=to(120, 560, 20), month=["March", "May", "June", "October"])
problem("""A box of {n} {item.many} costs ${p}, while a single {item.one}
costs ${s}. {A} needs exactly {t} {item.many}. How much does {A.he} save by
buying boxes instead of single {item.many}?""",
        lambda v: v.t % v.n == 0 and v.n * v.s > v.p and v.t > v.n,
        n=[4, 6, 8, 10, 12], p=to(8, 40), s=to(2, 6), t=to(16, 96, 4),
        item=BAKED)
problem("""{A} buys a used {item.one} for ${c} and spends ${r} on repairs.
[Later|A month later] {A.he} sells it for {p}% more than the total amount
{A.he} spent. What is the selling price?""",
        lambda v: (v.c + v.r) * v.p % 100 == 0, c=to(40, 300, 10),
        r=to(10, 80, 5), p=PERCENTS, item=GOODS)
problem("""The price of a {item.one} was ${price}. In {month} the price went
up by {p}%, and a month later it was lowered by ${d}. {A} buys {n} of them at
the new price. How much does {A.he} spend?""",
        lambda v: v.price * v.p % 100 == 0, price=to(20, 200, 10), p=PERCENTS,
        d=to(2, 9), n=to(2, 6), month=["April", "July", "September"],
        item=GOODS)
problem("""{A} has {q} quarters, {d} dimes and {n} nickels in a jar. {A.He}
buys a pencil for {c} cents. How many cents are left in the jar?""",
        lambda v: 25 * v.q + 10 * v.d + 5 * v.n > v.c + 20, q=to(3, 15),
        d=to(3, 20), n=to(3, 20), c=to(30, 95, 5))
problem("""{A} and {B} run a stand selling {drink}. They spend ${c} on
supplies and sell {n} cups at ${p} per cup. They divide the profit equally.
How much does [each of them|each child] get?""",
        lambda v: v.n * v.p > v.c and (v.n * v.p - v.c) % 2 == 0, c=to(8, 40),
        n=to(20, 80), p=[2, 3, 4], drink=DRINKS)
problem("""{A} orders {n} {item.many} for a class party. Each one costs ${p},
but for every {k} {item.many} the shop gives a discount of ${d}. Delivery
costs ${s}. What is the total cost of the order?""",
        lambda v: v.n % v.k == 0 and v.d < v.k * v.p / 2, n=to(20, 60, 2),
        p=to(4, 9), k=[5, 6, 8, 10], d=to(3, 10), s=to(4, 12), item=SNACKS)
problem("""A [café|cafeteria] sells a {item.one} for ${p}.50 and a cup of
{drink} for ${q}.25. {A} buys {n} {item.many} and {m} cups of {drink}. How
much does {A.he} have to pay?""",
        None, p=to(2, 7), q=to(1, 3), n=to(2, 8, 2), m=to(4, 12, 4),
        item=SNACKS, drink=DRINKS)
problem("""{A} gets an allowance of ${a} a week and spends ${s} of it on
{snack}. How many weeks will it take {A.him} to save enough for a {item.one}
that costs ${price} if {A.his} grandmother gives {A.him} half [the|of the]
price?""",
        lambda v: v.a > v.s and whole(Fraction(v.price, 2 * (v.a - v.s))),
        a=to(8, 25), s=to(2, 9), price=to(40, 240, 10), item=GOODS,
        snack=["snacks", "bus rides", "comics", "arcade games"])
problem("""Three friends, {A}, {B} and {C}, collected money for a shelter.
{A} collected ${a}. {B} collected {k} times as much as {A}, and {C} collected
${d} less than {B}. How much [did they collect|money did they raise]
altogether?""",
        lambda v: v.a * v.k > v.d, a=to(12, 60), k=TIMES, d=to(5, 30))

# Ages.

problem("""{A} is {k} times as old as {B}. In {y} years the sum of their ages
will be {s}. How old is {A} [now|today]?""",
        lambda v: whole(Fraction(v.s - 2 * v.y, v.k + 1)) and
        (v.s - 2 * v.y) // (v.k + 1) > 2 and v.s < 90, k=TIMES, y=to(2, 12),
        s=to(25, 88))
problem("""{A} is {a} years old. {A.His} {B.sibling} {B} is {d} years younger,
and their mother is {k} times as old as {B}. How old will their mother be in
{y} years?""",
        lambda v: 24 <= v.k * (v.a - v.d) - v.a <= 40, a=to(9, 18),
        d=to(2, 6), k=[3, 4, 5], y=to(2, 15))
problem("""{y} years ago, {A} was [twice|three times] as old as {B} was then.
{B} is {b} years old now. How old will {A} be in {z} years?""",
        lambda v: v.b - v.y > 3, y=to(2, 9), b=to(8, 20), z=to(3, 12))
problem("""The ages of {A}, {B} and {C} add up to {s} years. {B} is {d} years
older than {A}, and {C} is twice as old as {A}. How old is {C}?""",
        lambda v: (v.s - v.d) % 4 == 0 and v.s - v.d > 16, s=to(25, 100),
        d=to(2, 12))
problem("""{A}'s grandfather is {g} years old. {A}'s father is {d} years
younger than the grandfather, and {A} is {f} of {A.his} father's age. How old
was {A}'s father when {A} was born?""",
        lambda v: whole((v.g - v.d) * v.f) and v.g - v.d >= 35,
        g=to(60, 80), d=to(22, 32),
        f=[Fraction(1, 3), Fraction(1, 4), Fraction(1, 5)])
problem("""When {A} was {a} years old, {A.his} {A.sibling} was half {A.his}
age. Now {A} is {b} years old. What is the sum of their ages [now|today]?""",
        lambda v: v.a % 2 == 0 and v.b > v.a + 5, a=to(4, 16), b=to(15, 60))

# Distances, speed and rates.

problem("""{A} [drives|rides] {a} miles to {place} at {s} miles per hour,
stays there for {h} hours and returns the same way at {t} miles per hour. How
many hours is {A.he} away from home?""",
        lambda v: v.a % v.s == 0 and v.a % v.t == 0 and v.s != v.t,
        a=to(60, 360, 30), s=to(15, 60, 5), t=to(15, 60, 5), h=to(2, 7),
        place=PLACES)
problem("""Two {item.many} leave the same town at the same time and travel in
opposite directions. One travels at {a} miles per hour and the other at {b}
miles per hour. How far apart are they after {h} hours if the first one
[stops|rests] for one hour on the way?""",
        lambda v: v.a != v.b, a=to(30, 70, 5), b=to(30, 70, 5), h=to(3, 9),
        item=VEHICLES)
problem("""{A} walks {a} meters to school and {b} meters from school to the
library. [Then|Afterwards] {A.he} takes the bus home. If {A.he} does this on
{d} days, how many kilometers does {A.he} walk?""",
        lambda v: (v.a + v.b) * v.d % 1000 == 0, a=to(300, 1500, 50),
        b=to(200, 1200, 50), d=[4, 5, 8, 10, 20])
problem("""On {day}, {A} cycles {a} kilometers. On each of the next {n} days
{A.he} cycles {d} kilometers more than on the day before. How far does {A.he}
cycle in total?""",
        None, a=to(5, 25), n=[2, 3, 4], d=to(2, 6), day=DAYS)
problem("""A [hiker|mountain guide] named {A} climbs {u} meters in {h} hours.
At the same rate, how long will {A.he} need for a climb of {t} meters if
{A.he} also takes {n} breaks of {m} minutes each? Give the answer in
minutes.""",
        lambda v: v.u % v.h == 0 and v.t * v.h * 60 % v.u == 0 and v.t > v.u,
        u=to(300, 900, 50), h=[2, 3], t=to(600, 1800, 100), n=[2, 3, 4],
        m=[5, 10, 15, 20])
problem("""{A}'s car uses {g} liters of fuel per 100 kilometers. Fuel costs
${p} per liter. How much does {A} spend on fuel for a trip to {place} and
back if it is {d} kilometers away?""",
        lambda v: 2 * v.d * v.g % 100 == 0, g=to(5, 10), p=[2, 3],
        d=to(100, 600, 50), place=PLACES)
problem("""A machine [fills|packs] {r} bottles of {drink} per minute. A second
machine is {k} times as fast. How many minutes do the two machines together
need for {t} bottles?""",
        lambda v: v.t % (v.r * (v.k + 1)) == 0, r=to(6, 30, 2), k=TIMES,
        t=to(240, 3600, 60), drink=DRINKS)
problem("""A tank holds {v} liters of water. One pipe adds {a} liters per
minute while a leak loses {b} liters per minute. The tank already contains {s}
liters. After how many minutes will it be full?""",
        lambda v: v.a > v.b and v.v > v.s and (v.v - v.s) % (v.a - v.b) == 0,
        v=to(200, 1200, 50), a=to(10, 40), b=to(2, 12), s=to(20, 180, 10))
problem("""{A} types {a} words per minute and {B} types {b} words per minute.
They each type for {m} minutes. How many more words does {A} type than {B} if
{A} takes a break of {k} minutes?""",
        lambda v: v.a * (v.m - v.k) > v.b * v.m and v.k < v.m, a=to(50, 90, 5),
        b=to(25, 60, 5), m=to(15, 60, 5), k=to(2, 8))
problem("""A ferry makes {n} trips a day and carries {a} passengers on each
trip, except for the last one, which carries {b}. A ticket costs ${p}. How
much money does the ferry take in per day?""",
        lambda v: v.b < v.a, n=to(4, 12), a=to(30, 90, 5), b=to(12, 60),
        p=to(3, 9))
problem("""{A} swims {n} laps in a pool that is {l} meters long. {B} swims
{f} of that distance, and {C} swims {d} meters more than {B}. How many meters
does {C} swim?""",
        lambda v: whole(v.n * v.l * v.f), n=to(8, 40, 2), l=[25, 50], f=PARTS,
        d=to(50, 300, 50))
problem("""A delivery van drives {a} kilometers in the morning and {k} times
that distance in the afternoon. It uses one liter of fuel for every {e}
kilometers. How many liters of fuel does it use in {d} such days?""",
        lambda v: v.a * (1 + v.k) * v.d % v.e == 0, a=to(20, 90, 2), k=[2, 3],
        e=to(8, 15), d=to(3, 6))

# Fractions and percentages.

problem("""There are {n} {item.many} in a [crate|basket]. {A} gives {f} of
them to {B} and {g} of the rest to {C}. How many {item.many} are left?""",
        lambda v: whole(v.n * v.f) and whole(v.n * (1 - v.f) * v.g) and
        v.f != v.g, n=to(24, 180, 4), f=PARTS, g=PARTS, item=FRUIT)
problem("""A school has {n} students. {p}% of them come by bus, {f} of the
others walk, and the rest [ride bicycles|are driven by their parents]. How
many students are in the last group?""",
        lambda v: v.n * v.p % 100 == 0 and
        whole(Fraction(v.n * (100 - v.p), 100) * v.f), n=to(200, 900, 20),
        p=PERCENTS, f=PARTS)
problem("""{A} reads a {item.one} with {n} pages. On {day} {A.he} reads {f} of
it, and the day after {A.he} reads {k} pages more than on {day}. How many
pages does {A.he} still have to read?""",
        lambda v: whole(v.n * v.f) and v.n * (1 - 2 * v.f) > v.k + 5,
        n=to(90, 420, 6), f=PARTS, k=to(4, 20), day=DAYS, item=BOOKS)
problem("""A farmer named {A} has {n} {item.many}. {p}% of them are brown, and
{f} of the remaining {item.many} are white. The others are spotted. How many
spotted {item.many} does {A} have?""",
        lambda v: v.n * v.p % 100 == 0 and
        whole(Fraction(v.n * (100 - v.p), 100) * v.f), n=to(20, 200, 4),
        p=PERCENTS, f=PARTS, item=ANIMALS)
problem("""In a {subject} test with {n} questions, {A} answered {p}% correctly
and {B} answered {q}% correctly. Each correct answer is worth {k} points. How
many more points did {A} [get|score] than {B}?""",
        lambda v: v.p > v.q and v.n * v.p % 100 == 0 and v.n * v.q % 100 == 0,
        n=to(20, 80, 10), p=to(60, 95, 5), q=to(40, 90, 5), k=to(2, 5),
        subject=SUBJECTS)
problem("""{A} has {l} meters of {material}. {A.He} uses {f} of it for one
project and cuts the rest into pieces of {k} meters. How many pieces does
{A.he} get?""",
        lambda v: whole(v.l * v.f) and whole(v.l * (1 - v.f) / v.k),
        l=to(20, 120, 2), f=PARTS, k=to(2, 6), material=MATERIALS)
problem("""A theater has {n} seats. On Friday {p}% of the seats were taken,
and on Saturday {k} more seats were taken than on Friday. If each ticket costs
${t}, how much money did the theater [earn|take in] on both evenings?""",
        lambda v: v.n * v.p % 100 == 0 and v.n * (100 - v.p) > 100 * v.k,
        n=to(100, 400, 20), p=[40, 50, 60, 70, 75, 80], k=to(5, 40, 5),
        t=to(6, 20))
problem("""{A} planted {n} {item.many} in the spring. [Frost|A storm]
destroyed {p}% of them, and rabbits ate {k} more. {A} then planted {m} new
ones. How many {item.many} are growing now?""",
        lambda v: v.n * v.p % 100 == 0 and v.n * (100 - v.p) > 200 * v.k,
        n=to(40, 200, 5), p=[10, 20, 25, 30, 40], k=to(3, 15), m=to(6, 40),
        item=CROPS)
problem("""{A} earns ${s} a month. {A.He} spends {f} of {A.his} salary on
rent and {p}% of the salary on food. How much is left for other things?""",
        lambda v: whole(v.s * v.f) and v.s * v.p % 100 == 0 and
        v.f + Fraction(v.p, 100) < 1, s=to(1200, 4800, 120),
        f=PARTS, p=[10, 15, 20, 25, 30])
problem("""Of the {n} members of the {club}, {f} are girls. {a} of the girls
and {b} of the boys are going to {place}. How many members are staying
home?""",
        lambda v: whole(v.n * v.f) and v.n * v.f > v.a and
        v.n * (1 - v.f) > v.b, n=to(20, 60), f=PARTS, a=to(4, 20),
        b=to(4, 20), club=CLUBS, place=PLACES)
problem("""A bag of {grain} weighs {w} grams. {A} uses {f} of it for bread and
then {k} grams of what is left for soup. How many grams of {grain} remain?""",
        lambda v: whole(v.w * v.f) and v.w * (1 - v.f) > v.k + 20,
        w=to(400, 2400, 50), f=PARTS, k=to(50, 400, 25), grain=GRAINS)
problem("""The population of a village was {n}. In the first year it grew by
{p}%, and in the second year {a} people moved in while {b} moved away. How
many people live in the village now?""",
        lambda v: v.n * v.p % 100 == 0, n=to(400, 3000, 20),
        p=[5, 10, 15, 20, 25], a=to(20, 90), b=to(15, 80))

# Groups, packing and sharing.

problem("""{A} bakes {n} trays of {item.many} with {k} on each tray. {A.He}
keeps {m} for {A.his} family and packs the rest into bags of {b}. How many
bags can {A.he} fill?""",
        lambda v: (v.n * v.k - v.m) % v.b == 0 and v.n * v.k > 2 * v.m,
        n=to(3, 9), k=to(8, 20), m=to(4, 24), b=to(3, 9), item=BAKED)
problem("""{n} students and {t} teachers are going to {place}. Each
[bus|minibus] has {s} seats. How many seats stay empty if they use as few of
them as possible?""",
        lambda v: (v.n + v.t) % v.s, n=to(60, 260), t=to(4, 16),
        s=[12, 16, 20, 24, 30, 45, 48, 50], place=PLACES)
problem("""{A} has {n} {item.many} and {B} has {m}. They put all of them
together, give {g} to {C} and share the rest equally [between the two of
them|]. How many {item.many} does {A} have now?""",
        lambda v: (v.n + v.m - v.g) % 2 == 0 and v.n + v.m > 2 * v.g,
        n=to(15, 80), m=to(12, 70), g=to(6, 30), item=TOYS)
problem("""A library has {n} shelves with {k} {item.many} on each shelf.
[Readers|Visitors] borrow {b} {item.many} on {day} and return {r} on the next
day. How many {item.many} are on the shelves then?""",
        lambda v: v.b > v.r and v.n * v.k > 2 * v.b, n=to(6, 30), k=to(15, 45),
        b=to(25, 120), r=to(12, 90), day=DAYS, item=BOOKS)
problem("""{A} arranges {n} {item.many} and {m} {item2.many} into bouquets.
Each bouquet has {k} {item.many} and {j} {item2.many}. How many flowers are
left over after {A.he} makes as many bouquets as possible?""",
        lambda v: v.n // v.k != v.m // v.j and v.n % v.k, n=to(20, 80),
        m=to(18, 70), k=to(3, 7), j=to(2, 6), item=FLOWERS, item2=FLOWERS)
problem("""There are {r} rows of {item.many} in an orchard with {k} in each
row. {A} adds {m} rows with {j} {item.many} each. Later {d} of the trees are
cut down. How many {item.many} are left in the orchard?""",
        lambda v: v.r * v.k > 2 * v.d, r=to(6, 24), k=to(8, 25), m=to(2, 6),
        j=to(6, 20), d=to(5, 40), item=TREES)
problem("""A carton holds {k} jars, and a pallet holds {c} cartons. A factory
[produces|makes] {n} jars of jam a day. How many full pallets can it load in
{d} days?""",
        lambda v: v.n * v.d % (v.k * v.c) == 0, k=[6, 8, 10, 12],
        c=[10, 20, 24, 30, 40], n=to(240, 2400, 120), d=to(2, 10))
problem("""{A}, {B} and {C} [pick|collect] {item.many}. {A} has {a}, {B} has
{k} times as many as {A}, and {C} has half as many as {B}. They divide all of
their {item.many} equally. How many does each one get?""",
        lambda v: v.a * v.k % 2 == 0 and
        whole((v.a + v.a * v.k + Fraction(v.a * v.k, 2)) / 3), a=to(6, 48),
        k=TIMES, item=FRUIT)
problem("""A class of {n} children forms teams of {k}. Every team gets {b}
balls and {c} cones. The school owns {t} balls. How many balls are left?""",
        lambda v: v.n % v.k == 0 and v.t > v.n // v.k * v.b, n=to(18, 48),
        k=[3, 4, 5, 6], b=to(2, 5), c=to(3, 8), t=to(25, 80))
problem("""{A} has an album with {n} pages. Each page [has room for|holds]
{k} photos. {f} of the pages are already full, and the others are empty.
{A} adds {m} photos. How many more photos fit into the album?""",
        lambda v: whole(v.n * v.f) and v.n * v.k * (1 - v.f) > v.m + 3,
        n=to(16, 60, 2), k=[4, 6, 8, 9], f=PARTS, m=to(7, 60))
problem("""For a [wedding|banquet], {A} sets up {n} tables with {k} chairs
each. {g} guests come, and {m} of them bring a child who also needs a chair.
How many chairs stay empty?""",
        lambda v: v.n * v.k > v.g + v.m and v.m < v.g / 3, n=to(8, 24),
        k=[6, 8, 10], g=to(40, 160), m=to(4, 30))
problem("""A parking garage has {n} levels with {k} spaces each. At noon, {a}
cars are parked there. In the next hour {b} cars leave and twice as many cars
arrive. How many spaces are free then?""",
        lambda v: v.a > v.b and v.n * v.k > v.a + v.b + 5, n=to(3, 7),
        k=to(30, 80, 5), a=to(60, 260), b=to(8, 40))
problem("""{A} makes {n} {item.many} a day for {d} days. {A.He} keeps {k}
for later, gives {m} to each of {A.his} {f} friends and puts the
remaining ones into a box. How many {item.many} are in the box?""",
        lambda v: v.n * v.d > v.k + v.m * v.f + 5, n=to(3, 12), d=to(4, 14),
        k=to(2, 9), m=to(2, 5), f=to(3, 7), item=CRAFTS)
problem("""A beekeeper has {n} hives. Each hive gives {k} kilograms of honey,
and the honey is filled into jars of {g} grams. How many jars are needed if
{m} kilograms are kept back?""",
        lambda v: (v.n * v.k - v.m) * 1000 % v.g == 0 and v.m < v.k * 2,
        n=to(4, 20), k=to(9, 24), g=[250, 400, 500], m=to(2, 12))
problem("""{A} is packing for a move. {A.He} has {n} boxes for {item.many} and
each box holds {k}. After filling all of them, {A.he} still has {r}
{item.many}, of which {A.he} gives {g} away. How many {item.many} does {A.he}
own now?""",
        lambda v: v.r > v.g and v.r < v.k, n=to(4, 15), k=to(12, 30),
        r=to(5, 25), g=to(2, 14), item=BOOKS)

# Time and work.

problem("""{A} practices the piano for {a} minutes on weekdays and {b} minutes
on Saturdays and Sundays. [So far|Up to now] {A.he} has practiced for {w} full
weeks. How many hours is that?""",
        lambda v: (5 * v.a + 2 * v.b) * v.w % 60 == 0 and v.a != v.b,
        a=to(20, 60, 5), b=to(30, 90, 5), w=to(2, 12))
problem("""It takes {A} {a} minutes to make one {item.one}. {B} needs {k}
minutes longer. If both work for {h} hours, how many {item.many} do they make
together?""",
        lambda v: v.h * 60 % v.a == 0 and v.h * 60 % (v.a + v.k) == 0,
        a=to(10, 40, 2), k=[2, 3, 4, 5, 6, 8, 10, 12, 15, 20], h=to(2, 8),
        item=CRAFTS)
problem("""A [movie|concert] starts at {h}:{m} p.m. and lasts {d} minutes,
including a break of {b} minutes. {A} then needs {t} minutes to get home. How
many minutes before midnight does {A.he} arrive?""",
        lambda v: v.h * 60 + v.m + v.d + v.t < 715, h=[6, 7, 8],
        m=[15, 30, 45], d=to(90, 160, 5), b=[10, 15, 20], t=to(12, 40))
problem("""{n} workers can [build a wall|pave a courtyard|paint a school] in
{d} days. After {k} days, {m} more workers join them. How many more days do
they need to finish?""",
        lambda v: v.k < v.d and v.n * (v.d - v.k) % (v.n + v.m) == 0,
        n=to(3, 12), d=to(6, 24), k=to(2, 10), m=to(2, 12))
problem("""{A} works {h} hours a day, {d} days a week, and earns ${p} an hour.
For every hour on a Sunday, {A.he} gets ${x} extra. Last week {A.he}
also worked {s} hours on a Sunday. How much did {A.he} earn?
""",
        None, h=to(4, 8), d=[3, 4, 5], p=to(10, 25), x=to(3, 9), s=to(2, 6))
problem("""Every morning {A} spends {a} minutes feeding the {item.many}, {b}
minutes cleaning the barn and {c} minutes fetching water. How many hours does
{A.he} spend on these chores in {d} days?""",
        lambda v: (v.a + v.b + v.c) * v.d % 60 == 0, a=to(10, 40, 5),
        b=to(15, 60, 5), c=to(5, 25, 5), d=to(4, 30), item=ANIMALS)
problem("""A printer prints {r} pages per minute. {A} prints {n} copies of a
report with {k} pages and then {m} copies of a flyer with a single page. How
many minutes does the printing take?""",
        lambda v: (v.n * v.k + v.m) % v.r == 0, r=to(8, 30, 2), n=to(4, 20),
        k=to(12, 40), m=to(20, 100, 4))
problem("""{A} knits {a} rows of a scarf per day. The scarf needs {n} rows.
After {d} days {A.he} [notices a mistake and undoes|has to undo] {k} rows.
How many more days does {A.he} need to finish the scarf?""",
        lambda v: v.n > v.a * v.d - v.k > 0 and
        (v.n - v.a * v.d + v.k) % v.a == 0, a=to(6, 20), n=to(100, 400, 4),
        d=to(3, 12), k=to(4, 30))
problem("""A bus leaves every {a} minutes and a tram leaves every {b} minutes.
They both leave at {h} o'clock in the morning. How many times do they leave
together in the following {t} hours?""",
        lambda v: v.a != v.b and v.t * 60 % lcm(v.a, v.b) == 0,
        a=[6, 8, 10, 12, 15, 20], b=[4, 9, 15, 20, 30],
        h=[6, 7, 8, 9], t=[2, 3, 4, 5, 6])

# Recipes and measures.

problem("""A recipe for {n} {item.many} needs {g} grams of flour and {e} eggs.
{A} wants to bake {m} {item.many} and has {have} grams of flour [at home|].
How many more grams of flour does {A.he} need?""",
        lambda v: v.m % v.n == 0 and v.m > v.n and v.m // v.n * v.g > v.have,
        n=[6, 8, 10, 12], g=to(150, 400, 25), e=[2, 3, 4], m=to(16, 72, 2),
        have=to(100, 600, 50), item=BAKED)
problem("""A soup for {n} people takes {p} potatoes and {c} carrots. {A} cooks
for {m} people and has already peeled {k} potatoes and {j} carrots. How many
vegetables does {A.he} still have to peel?""",
        lambda v: v.m % v.n == 0 and v.m > v.n and v.m // v.n * v.p > v.k and
        v.m // v.n * v.c > v.j, n=[3, 4, 5, 6], p=to(4, 12), c=to(3, 9),
        m=to(8, 48), k=to(3, 20), j=to(2, 15))
problem("""{A} mixes {drink} from {a} parts syrup and {b} parts water. {A.He}
needs {t} liters for a party and already has {s} liters of syrup. How many
more liters of syrup [does {A.he} need|must {A.he} buy]?""",
        lambda v: v.t % (v.a + v.b) == 0 and v.a < v.b and
        v.t // (v.a + v.b) * v.a > v.s, a=[2, 3], b=to(4, 9), t=to(18, 120),
        s=to(2, 8), drink=["lemonade", "punch", "fruit juice", "iced tea"])
problem("""A pitcher holds {p} milliliters and a glass holds {g} milliliters.
{A} fills {n} pitchers with {drink} and pours out {m} glasses. How many more
glasses can {A.he} fill?""",
        lambda v: v.n * v.p % v.g == 0 and v.n * v.p // v.g > v.m,
        p=to(1000, 2500, 250), g=[200, 250, 300], n=to(3, 8), m=to(6, 25),
        drink=DRINKS)
problem("""{A}'s garden is a rectangle that is {l} meters long and {w} meters
wide. {A.He} puts a fence around it and leaves a gate of {g} meters open. The
fence costs ${p} per meter. How much does the fence cost?""",
        lambda v: v.l > v.w, l=to(12, 40), w=to(8, 30), g=[2, 3], p=to(4, 15))
problem("""A [hall|classroom] is {l} meters long and {w} meters wide. {A}
covers the floor with square tiles that are 50 centimeters long. The tiles
come in packs of {k}. How many packs does {A.he} need?""",
        lambda v: v.l > v.w and 4 * v.l * v.w % v.k == 0, l=to(6, 24),
        w=to(4, 16), k=[8, 10, 12, 16, 20, 24])
problem("""A crate with {n} {item.many} weighs {t} kilograms. The empty crate
weighs {c} kilograms, and all the {item.many} weigh the same. How many
kilograms would a crate with {m} {item.many} weigh?""",
        lambda v: v.t > v.c and (v.t - v.c) % v.n == 0 and v.n != v.m and
        (v.t - v.c) // v.n < 15, n=to(4, 12), t=to(14, 80), c=[2, 3, 4, 5],
        m=to(5, 20), item=items("melon, pumpkin, cheese wheel, metal part,"
                                "book set, cabbage, paint can, car battery/"
                                "car batteries"))

# Comparisons.

problem("""{A} has {a} {item.many}. {B} has {d} fewer than {k} times as many
as {A}. {C} has as many as {A} and {B} together. How many {item.many} do the
three have altogether?""",
        lambda v: v.k * v.a > v.d, a=to(12, 60), d=to(3, 20), k=TIMES,
        item=TOYS)
problem("""On {day}, a shop sold {n} {item.many}. The next day it sold {f} of
that number, and on the third day it sold {k} more than on the first two days
together. How many {item.many} did it sell in the three days?""",
        lambda v: whole(v.n * v.f), n=to(24, 120, 2), f=PARTS, k=to(5, 25),
        day=DAYS, item=CLOTHES)
problem("""{A} scored {a} points in the first round of a game, twice as many
in the second round, and lost {c} points in the third. {B} scored {b} points
in each of [the|these] three rounds. By how many points did the winner win?""",
        lambda v: 3 * v.a - v.c != 3 * v.b and 3 * v.a > v.c, a=to(15, 90),
        c=to(5, 40), b=to(10, 80))
problem("""A museum shows {a} {work} on the first floor, {k} times as many on
the second floor and {d} fewer on the third floor than on the second. {p} of
these {work} are on loan from other museums.
How many {work} [does the
museum own|does the museum itself own]?""",
        lambda v: v.k * v.a > v.d + 5 and v.p < v.a, a=to(20, 70), k=[2, 3],
        d=to(5, 30), p=to(8, 40), work=WORKS)
problem("""The {club} had {n} members last year. This year {a} members left
and {k} times as many new ones joined. [Each member|Every member] pays a fee
of ${p}. How much money does the club collect this year?""",
        lambda v: v.n > 2 * v.a, n=to(18, 60), a=to(3, 9), k=[2, 3, 4],
        p=to(5, 30, 5), club=CLUBS)
problem("""{A} weighs {a} kilograms more than {B}, and {C} weighs {b}
kilograms less than {B}. Together they weigh {t} kilograms. How many kilograms
does {A} weigh?""",
        lambda v: whole(Fraction(v.t - v.a + v.b, 3)) and
        30 < (v.t - v.a + v.b) // 3 < 80, a=to(3, 15), b=to(2, 9),
        t=to(110, 240))
problem("""In a survey of {n} people, {a} said they like tea and {b} said they
like coffee. {c} people like both. How many more people like only coffee than
[like only tea|like neither of the two]?""",
        lambda v: v.b - v.a > 0 and v.c < v.a and
        v.b - v.c > v.n - v.a - v.b + v.c > 0, n=to(60, 200, 5), a=to(20, 90),
        b=to(30, 120), c=to(8, 50))
problem("""The average of {A}'s first {n} scores in {subject} is {a}. What
score does {A.he} need on the next test to raise {A.his} average to {b}?""",
        lambda v: v.b > v.a and (v.n + 1) * v.b - v.n * v.a <= 100,
        n=to(3, 7), a=to(68, 90), b=to(70, 94), subject=SUBJECTS)
problem("""A tree is {a} centimeters tall when {A} plants it. It grows {g}
centimeters in each of the first {n} years and {h} centimeters per year after
that. How tall is the tree after {t} years?""",
        lambda v: v.t > v.n + 1 and v.g > v.h, a=to(40, 150, 5),
        g=to(15, 40), n=to(2, 5), h=to(8, 25), t=to(5, 14))
problem("""{A} and {B} start with the same number of {item.many}. {A} gives
{a} of them to {B}, and then {B} loses {b}. Now {B} has {c} {item.many}. How
many does {A} have?""",
        lambda v: v.c + v.b - 2 * v.a > 3 and v.b != v.a, a=to(4, 15),
        b=to(3, 12), c=to(20, 70), item=TOYS)
problem("""A {item.one} costs ${d} more than a {item2.one}. {A} buys {n}
{item.many} and {m} {item2.many} for ${t} in all. What is the price of one
{item2.one}?""",
        lambda v: (v.t - v.n * v.d) % (v.n + v.m) == 0 and
        v.t - v.n * v.d > 3 * (v.n + v.m), d=to(3, 15), n=to(2, 6),
        m=to(2, 6), t=to(60, 260), item=CLOTHES, item2=CLOTHES)

# --------------------------------------------------------------------------
# Composition
# --------------------------------------------------------------------------

SMALL = ("zero one two three four five six seven eight nine ten eleven "
         "twelve").split()
CHOICE = re.compile(r"\[([^\[\]]*\|[^\[\]]*)\]")
# A number slot that may be written as a word: not a price, a percentage, a
# decimal number or a time.
NUMBER = re.compile(r"(?<![$.:])\{([a-z]+)\}(?!%|\.\d|:|-)")
SENTENCE_START = re.compile(r"(^|(?<!\.m)[.?!] )([a-z])")


def draw(slots, where, rng):
    """Choose values for the slots so that the condition holds."""
    for _ in range(20000):
        values = {name: rng.choice(choices)
                  for name, choices in slots.items()}
        if "item2" in values and values["item"] is values["item2"]:
            continue
        if where is None or where(SimpleNamespace(**values)):
            return values
    raise ValueError(f"no values found for {sorted(slots)}")


def written(value, words):
    """Return a slot value as text, in words if wanted and usual."""
    if isinstance(value, Fraction):
        pair = value.numerator, value.denominator
        return WORDED[pair] if words else f"{pair[0]}/{pair[1]}"
    if isinstance(value, int):
        if words and value < len(SMALL):
            return SMALL[value]
        return f"{value:,}" if value >= 1000 else str(value)
    return value


def compose(template, where, slots, rng):
    """Return one problem made from a template."""
    values = draw(slots, where, rng)
    text = CHOICE.sub(lambda m: rng.choice(m.group(1).split("|")), template)
    words = rng.random() < 0.35
    fractions_worded = words or rng.random() < 0.5

    def number(match):
        value = values[match.group(1)]
        if isinstance(value, Fraction):
            return written(value, fractions_worded)
        return written(value, words) if isinstance(value, int) else (
            match.group(0))

    text = NUMBER.sub(number, text)
    people = sorted(set(re.findall(r"\{([A-Z])\b", text)))
    names = rng.sample(SHE + HE, len(people))
    text = text.format(
        **{name: written(value, False) for name, value in values.items()},
        **{letter: Person(name) for letter, name in zip(people, names)})
    text = re.sub(r"\b(two|2) times (as|that)", r"twice \2", text)
    text = re.sub(r" +([.,?])", r"\1", re.sub(r"  +", " ", text)).strip()
    return SENTENCE_START.sub(lambda m: m.group(1) + m.group(2).upper(), text)


def prompts(seed: int, count: int) -> list[str]:
    """Return `count` distinct prompts, the same ones for the same seed."""
    rng = random.Random(seed)
    result = []
    seen = set()
    order = []
    for _ in range(50 * count):
        if len(result) == count:
            break
        if not order:
            order = rng.sample(TEMPLATES, len(TEMPLATES))
        text = compose(*order.pop(), rng)
        if text not in seen:
            seen.add(text)
            result.append(text)
    if len(result) < count:
        raise ValueError(f"only {len(result)} distinct prompts available")
    return result
