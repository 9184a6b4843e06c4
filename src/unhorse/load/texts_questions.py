"""unhorse's own questions and contexts, for question-answering models without samples.

A context tells of one made-up subject: who founded it, when, where, why, how
many it holds, what it is made of. Each question asks for one of the stated
facts, and the context also holds facts that look alike (a second year, a second
person), so that the question matters. The scanned model answers itself; the
intended answers only keep this generator testable.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass

from unhorse.load.text_names import (
    CITIES,
    DAYS,
    FIRST_NAMES,
    MONTHS,
    ORGANISATION_PARTS,
    SURNAMES,
    TITLE_PARTS,
    Slots,
    below,
    fill,
    vowel_sound,
)
from unhorse.load.text_words import lines, listed

MIN_WORDS = 40
MAX_WORDS = 120
MAX_QUESTIONS = 4

_SLOT = re.compile(r"\{(\w+)\}")
_ARTICLE = re.compile(r"\b([Aa]) (?=(\w+))")


@dataclass(frozen=True, slots=True)
class Fact:
    """A sentence with slots, and (question, slot of its answer) pairs about it."""

    sentence: str
    questions: tuple[tuple[str, str], ...]
    always: bool


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of subject: its name, its facts in order, the words that only it uses.

    Its first year lies within 40 years from `since`, each later one `gap` to
    twice `gap` years after the one before.
    """

    name: str
    facts: tuple[Fact, ...]
    words: Slots
    since: int
    gap: int


def _kind(
    name: str, facts: str, words: Mapping[str, str], since: int = 1900, gap: int = 10
) -> Kind:
    """A kind from its written form.

    A line is a sentence; "+" marks one that no context leaves out. The lines
    after it that begin with "?" are questions about it, with the slot of the
    answer behind the question mark.
    """
    read: list[Fact] = []
    for line in (" ".join(line.split()) for line in lines(facts)):
        if line.startswith("? "):
            question, _, slot = line[2:].rpartition(" ")
            asked = (*read[-1].questions, (question, slot))
            read[-1] = Fact(read[-1].sentence, asked, read[-1].always)
        else:
            read.append(Fact(line.removeprefix("+ "), (), line.startswith("+ ")))
    tables = {slot: listed(entries) for slot, entries in words.items()}
    return Kind(name, tuple(read), tables, since, gap)


_SLOTS: Slots = {
    **TITLE_PARTS,
    "brand": ORGANISATION_PARTS["brand"],
    "first": FIRST_NAMES,
    "last": SURNAMES,
    "person": ("{first} {last}",),
    "city": tuple(CITIES),
    "month": MONTHS,
    "day": DAYS,
    "head": listed(
        """Alder, Bram, Cold, Dun, Elm, Fern, Glen, Hazel, Kel, Lang, Mar, Nor, Oak, Pem, Raven,
        Stan, Thorn, Wex, Whit, Win"""
    ),
    "tail": listed(
        "bury, combe, dale, field, ford, ham, ley, mere, mouth, stead, ton, wick, worth"
    ),
    "place": ("{head}{tail}",),
    "n": tuple(str(number) for number in range(12, 99)),
    "few": listed("three, four, five, six, seven, eight, nine, eleven, twelve"),
    "digit": tuple("123456789"),
    "many": ("{digit},{digit}{digit}0", "{digit}{digit},{digit}00"),
    "hundreds": ("{digit}{digit}0", "{digit}{digit}5"),
    "tenths": ("{digit}.{digit}",),
    "money": (
        "{n}0,000 pounds",
        "{tenths} million euros",
        "{n} million crowns",
        "{n}5,000 dollars",
    ),
    "sum": ("{n},000 pounds", "{n},500 euros", "{n}0,000 crowns", "{n},000 dollars"),
    "colour": listed(
        "red, blue, green, yellow, purple, grey, white, brown, pink, turquoise, crimson, maroon"
    ),
    "wood": listed("oak, walnut, pine, beech, maple, larch, birch, cedar"),
    "stone": listed("granite, marble, limestone, slate, sandstone, brick, concrete, basalt"),
    "metal": listed("brass, copper, bronze, iron, steel, tin, nickel, aluminium"),
    "job": listed(
        """watchmaker, teacher, surgeon, sailor, carpenter, chemist, lawyer, farmer, printer,
        gardener, tailor, postman, engineer, pharmacist, weaver, blacksmith"""
    ),
}

KINDS: tuple[Kind, ...] = (
    _kind(
        name="the {place1} {theme1} Museum",
        words={
            "theme": """Clock, Toy, Textile, Maritime, Railway, Puppet, Salt, Radio, Bicycle,
                Pottery""",
            "house": "brewery, warehouse, convent, tram depot, cotton mill, fire station, granary",
            "reason": """the old rooms were damp, the roof had begun to leak, the rent had doubled,
                the old house was too small""",
            "piece": "globe, mask, bowl, sundial, chess set, bird, bell, key",
        },
        facts="""
        + {name} was founded in {year1} by {person1}, a retired {job1} from {city1}.
        ? Who founded {name}? person1
        ? When was {name} founded? year1
        ? What had been the profession of {person1}? job1
        ? Which city did {person1} come from? city1
        + In {year2} the collection moved to a former {house1} in {city2}, and {person2} became \
            its first director.
        ? In what year did the collection of {name} move? year2
        ? What had the new building of {name} been before? house1
        ? To which city did the collection move? city2
        ? Who was the first director of {name}? person2
        The move was necessary because {reason1}.
        ? Why was the move necessary? reason1
        Today the museum has {n1} rooms and shows about {many1} objects.
        ? How many rooms does {name} have? n1
        ? About how many objects does {name} show? many1
        Its best-known piece is a {metal1} {piece1} that weighs {hundreds1} grams.
        ? What is the best-known piece of {name}? piece1
        ? How many grams does the {piece1} weigh? hundreds1
        Visitors enter through a {colour1} door, and the reading room behind it is painted \
            {colour2}.
        ? What colour is the door of {name}? colour1
        ? What colour is the reading room of {name}? colour2
        Entrance is free on {day1}, and guided tours are offered on {day2}.
        ? On which day is the entrance to {name} free? day1
        ? On which day are guided tours offered at {name}? day2
        """,
    ),
    _kind(
        name="the {place1} Bridge",
        words={
            "water": "{place} Canal, River {head}, {place} Channel, {place} Sound",
            "reason": """fishing boats could not pass, floods had reached the road, larger ships
                were expected, the water had risen""",
            "traffic": "trams, lorries, farm carts, bicycles, buses, horses",
        },
        facts="""
        + {name} crosses the {water1} and was designed by the engineer {person1}.
        ? What does {name} cross? water1
        ? Who designed {name}? person1
        + Work began in {month1} {year1}, and {person2}, the mayor of {city1}, opened it in {year2}.
        ? When did work on {name} begin? year1
        ? Who opened {name}? person2
        ? In what year was {name} opened? year2
        ? Of which city was {person2} the mayor? city1
        It is {hundreds1} metres long and rests on {few1} pillars of {stone1}.
        ? How long is {name}? hundreds1
        ? How many pillars does {name} rest on? few1
        ? What are the pillars of {name} made of? stone1
        The building costs came to {money1}, which a later repair nearly doubled.
        ? How much did it cost to build {name}? money1
        In {year3} the bridge was raised by two metres because {reason1}.
        ? Why was {name} raised? reason1
        ? When was {name} raised? year3
        The railings are {colour1}, and the lamps have been {colour2} since the last repair.
        ? What colour are the railings of {name}? colour1
        ? What colour are the lamps on {name}? colour2
        On a normal day about {many1} people cross it, but {traffic1} are no longer allowed.
        ? About how many people cross {name} on a normal day? many1
        ? What is no longer allowed on {name}? traffic1
        """,
        gap=4,
    ),
    _kind(
        name="{brand1} {ware1}",
        words={
            "ware": "Bicycles, Umbrellas, Pianos, Lamps, Desks, Kettles, Ladders, Scales, Chairs",
            "shed": "garage, barn, laundry, cellar, bakery, stable, boathouse",
            "reason": """orders from abroad had doubled, the first one was too small, transport had
                become too expensive, new machines were needed""",
            "market": "schools, hotels, hospitals, theatres, farmers, railways",
        },
        facts="""
        + {name} is a company that {person1} started in {year1} in a small {shed1} in {city1}.
        ? Who started {name}? person1
        ? When was {name} started? year1
        ? Where in {city1} did {name} start? shed1
        ? In which city did {name} start? city1
        + It employed only {few1} people at first, but in {year2} it hired {person2} as chief \
            designer.
        ? How many people did {name} employ at first? few1
        ? When did {name} hire its chief designer? year2
        ? Who became chief designer of {name}? person2
        A second factory was later built in {city2} because {reason1}.
        ? In which city was a second factory built? city2
        ? Why was a second factory built? reason1
        Most of its customers are {market1}, and last year it sold {many1} pieces.
        ? Who are most of the customers of {name}? market1
        ? How many pieces did {name} sell last year? many1
        Every piece carries a small {colour1} label with a {colour2} border.
        ? What colour is the label on each piece? colour1
        ? What colour is the border of the label? colour2
        The screws, once made of {metal1}, are made of {metal2} today.
        ? What were the screws once made of? metal1
        ? What are the screws made of today? metal2
        The company spends {sum1} a year on training.
        ? How much does {name} spend on training each year? sum1
        """,
    ),
    _kind(
        name="the {place1} {art1} Festival",
        words={
            "art": "Jazz, Poetry, Puppet, Summer, Lantern, Choir, Storytelling, Folk Dance",
            "venue": "town hall, old harbour, castle courtyard, cattle market, railway yard",
            "reason": """the field was under water, the stage had not arrived, the tents had blown
                away, the bridge was closed""",
            "award": "silver spoon, wooden owl, glass apple, paper crown, copper bell",
        },
        facts="""
        + {name} was first held in {year1}, when {person1} invited {few1} artists from {city1}.
        ? When was {name} first held? year1
        ? Who invited the first artists to {name}? person1
        ? How many artists were invited to the first {name}? few1
        ? From which city did the first artists come? city1
        + It has been organised by {person2} since {year2} and takes place every {month1}.
        ? Who organises {name} now? person2
        ? Since when has {person2} organised {name}? year2
        ? In which month does {name} take place? month1
        The opening show takes place in the {venue1}, and the last evening belongs to the children.
        ? Where does the opening show of {name} take place? venue1
        Only in {year3} was it cancelled, because {reason1}.
        ? When was {name} cancelled? year3
        ? Why was {name} cancelled? reason1
        About {many1} visitors come each year, and {n1} volunteers look after them.
        ? About how many visitors come to {name} each year? many1
        ? How many volunteers look after the visitors? n1
        The best performer receives a {award1}.
        ? What does the best performer receive? award1
        Tickets are {colour1} for adults and {colour2} for children.
        ? What colour are the tickets for adults? colour1
        ? What colour are the tickets for children? colour2
        """,
        since=1950,
        gap=8,
    ),
    _kind(
        name="{place1} School",
        words={
            "subject": """botany, navigation, geometry, music, weaving, astronomy, carpentry,
                geography""",
            "reason": """a storm had damaged the roof, there were too few teachers, the village was
                growing fast, the heating had failed""",
            "animal": "heron, badger, otter, swallow, hedgehog, salmon",
        },
        facts="""
        + {name} was opened in {year1} by {person1}, who had been a {job1} in {city1}.
        ? When was {name} opened? year1
        ? Who opened {name}? person1
        ? What had {person1} been before opening {name}? job1
        ? In which city had {person1} worked before? city1
        + At first it had {n1} pupils, but by {year2}, when {person2} became head teacher, there \
            were {hundreds1}.
        ? How many pupils did {name} have at first? n1
        ? When did {person2} become head teacher? year2
        ? Who became head teacher in {year2}? person2
        ? How many pupils were there when {person2} became head teacher? hundreds1
        The school is best known for teaching {subject1}, although more pupils now choose \
            {subject2}.
        ? What is {name} best known for teaching? subject1
        ? Which subject do more pupils choose now? subject2
        A second building was added in {year3} because {reason1}.
        ? When was a second building added to {name}? year3
        ? Why was a second building added? reason1
        Its badge shows a {colour1} {animal1} on a {colour2} field.
        ? Which animal is on the badge of {name}? animal1
        ? What colour is the animal on the badge? colour1
        ? What colour is the field of the badge? colour2
        The library, a gift of {sum1} from former pupils, is open until late on {day1}.
        ? How much did former pupils give for the library? sum1
        ? On which day is the library open until late? day1
        """,
    ),
    _kind(
        name="the {place1} Expedition",
        words={
            "goal": """source of the River {head}, top of Mount {place}, coast of {place} Island,
                {place} Glacier""",
            "vehicle": "sledge, canoe, mule train, sailing boat, hot-air balloon",
            "reason": """the maps were wrong, the food had spoiled, fog hid the pass, the ice was
                too thin""",
            "find": """fossil fern, hot spring, ruined tower, meteorite, unknown orchid, cave
                painting""",
        },
        facts="""
        + {name} left {city1} in {month1} {year1} to reach the {goal1}.
        ? From which city did {name} leave? city1
        ? In what year did {name} leave? year1
        ? What did {name} want to reach? goal1
        + It was led by {person1}, while {person2}, a {job1}, kept the diary.
        ? Who led {name}? person1
        ? Who kept the diary of {name}? person2
        ? What was the profession of {person2}? job1
        The {few1} members travelled by {vehicle1} and carried food for {n1} days.
        ? How many members did {name} have? few1
        ? How did the members of {name} travel? vehicle1
        ? For how many days did {name} carry food? n1
        They had to turn back once because {reason1}.
        ? Why did the members have to turn back once? reason1
        On the way they discovered a {find1}, which they marked with a {colour1} flag.
        ? What did the members discover on the way? find1
        ? What colour was the flag that marked the discovery? colour1
        The whole journey cost {sum1} and covered {hundreds1} kilometres.
        ? How much did {name} cost? sum1
        ? How many kilometres did {name} cover? hundreds1
        + The members came home in {year2}, and their {colour2} tent can be seen in {city2}.
        ? When did the members of {name} come home? year2
        ? In which city can the tent be seen? city2
        ? What colour is the tent of {name}? colour2
        """,
        gap=1,
    ),
    _kind(
        name="The {shade1} {image1}",
        words={
            "genre": "detective novel, family saga, travel book, collection of poems, fairy tale",
            "hero": "beekeeper, night watchman, piano tuner, bus driver, clockmaker, ferry captain",
            "reason": """paper was scarce, the printer had moved, the ending was missing, two pages
                had been lost""",
            "award": "{last} Prize, {place} Medal, {brand} Award",
        },
        facts="""
        + {name} is a {genre1} that {person1} wrote in {city1} in {year1}.
        ? Who wrote {name}? person1
        ? What kind of book is {name}? genre1
        ? In which city was {name} written? city1
        ? When was {name} written? year1
        + It was not printed until {year2}, when {person2} found the manuscript in a box made of \
            {wood1}.
        ? When was {name} printed? year2
        ? Who found the manuscript of {name}? person2
        ? What was the box with the manuscript made of? wood1
        The delay was long because {reason1}.
        ? Why was the delay long? reason1
        It tells the story of a {hero1} who walks to {city2} to return a {colour1} coat.
        ? What is the main character of {name}? hero1
        ? To which city does the main character walk? city2
        ? What colour is the coat in {name}? colour1
        The book has {hundreds1} pages and is divided into {n1} chapters.
        ? How many pages does {name} have? hundreds1
        ? How many chapters does {name} have? n1
        It won the {award1} and has been sold {many1} times.
        ? What did {name} win? award1
        ? How many times has {name} been sold? many1
        The first edition had a {colour2} cover.
        ? What colour was the cover of the first edition? colour2
        """,
    ),
    _kind(
        name="the {last1} Bakery",
        words={
            "bread": """rye bread, plum cake, cheese rolls, honey biscuits, walnut bread, apple
                tarts""",
            "secret": """roasted barley, orange peel, sea salt, sour milk, fennel seeds, chestnut
                flour""",
            "reason": """the chimney had cracked, the street was being widened, the well had run
                dry, a new oven was needed""",
        },
        facts="""
        + {name} in {city1} is the oldest in the street and was bought by {person1} in {year1}.
        ? In which city is {name}? city1
        ? Who bought {name} in {year1}? person1
        ? When did {person1} buy {name}? year1
        + {person2} took over in {year2} and opened a second shop in {place1}.
        ? Who opened a second shop in {place1}? person2
        ? When did {person2} take over {name}? year2
        ? In which place was the second shop opened? place1
        It is known for its {bread1}, but most customers also buy {bread2}.
        ? What is {name} known for? bread1
        ? What do most customers also buy? bread2
        The secret of the dough is {secret1}.
        ? What is the secret of the dough? secret1
        The oven was built of {stone1} and holds {n1} loaves at a time.
        ? What was the oven of {name} built of? stone1
        ? How many loaves does the oven hold at a time? n1
        In {year3} the shop stayed closed for {few1} weeks because {reason1}.
        ? In what year did {name} stay closed for some weeks? year3
        ? For how many weeks did {name} stay closed? few1
        ? Why did {name} stay closed? reason1
        The bakers wear {colour1} aprons and start work long before the {colour2} shutters go up.
        ? What colour are the aprons of the bakers? colour1
        ? What colour are the shutters of {name}? colour2
        """,
    ),
    _kind(
        name="the ship {shade1} {image1}",
        words={
            "port": """Adelaide, Brisbane, Hobart, Antwerp, Recife, Halifax, Valparaiso, Cartagena,
                Split, Aarhus, Alexandria, Tallinn, Suva, Helsinki, Turku, Nantes, Hamburg, Accra,
                Patras, Reykjavik, Kochi, Surabaya, Galway, Cork, Trieste, Palermo, Kobe, Mombasa,
                Riga, Penang, Casablanca, Bergen, Tromso, Gdansk, Porto, Dakar, Durban, Busan,
                Bilbao, Gothenburg, Malmo, Izmir, Odesa, Montevideo""",
            "cargo": "timber, tea, copper ore, oranges, wool, paper, salt, marble",
            "reason": """the rudder had broken, fog covered the coast, coal had run out, the captain
                was ill""",
            "now": "floating hotel, training ship, restaurant, youth hostel, museum",
        },
        facts="""
        + {name} was built in {port1} in {year1} after plans by {person1}.
        ? In which city was {name} built? port1
        ? When was {name} built? year1
        ? Who drew the plans of {name}? person1
        + Under Captain {person2} it carried {cargo1} until {year2}, and {cargo2} after that.
        ? Who was the captain of {name}? person2
        ? What did {name} carry until {year2}? cargo1
        ? What did {name} carry after {year2}? cargo2
        ? Until when did {name} carry {cargo1}? year2
        It is {n1} metres long and had a crew of {few2}.
        ? How long is {name}? n1
        ? How large was the crew of {name}? few2
        On its longest voyage it had to stop for {few1} days in {port2} because {reason1}.
        ? For how many days did {name} have to stop? few1
        ? Where did {name} have to stop on its longest voyage? port2
        ? Why did {name} have to stop? reason1
        The hull was painted {colour1}, and the funnel was {colour2}.
        ? What colour was the hull of {name}? colour1
        ? What colour was the funnel of {name}? colour2
        In {year3} it was sold for {money1}, and today it is used as a {now1}.
        ? For how much was {name} sold? money1
        ? When was {name} sold? year3
        ? What is {name} used as today? now1
        """,
    ),
    _kind(
        name="{brand1} Research Station",
        words={
            "spot": "{place} Island, Mount {place}, the {place} Plateau, Cape {place}",
            "study": "seabirds, glaciers, lichens, earthquakes, seals, cosmic rays, ocean currents",
            "reason": """a storm had damaged it, the ice had moved, the generator was too loud, the
                huts were too cold""",
        },
        facts="""
        + {name} on {spot1} was set up in {year1} to study {study1}.
        ? Where is {name}? spot1
        ? When was {name} set up? year1
        ? What was {name} set up to study? study1
        + Its first leader was {person1} of {city1}, and since {year2} {person2} has been in charge.
        ? Who was the first leader of {name}? person1
        ? Who is in charge of {name} now? person2
        ? Since when has {person2} been in charge? year2
        ? Which city did the first leader come from? city1
        In summer {n1} people work there, in winter only {few1}.
        ? How many people work at {name} in summer? n1
        ? How many people work at {name} in winter? few1
        The main building had to be replaced because {reason1}.
        ? Why did the main building have to be replaced? reason1
        The new huts are {colour1}, so that they can be seen in snow, and the radio mast is \
            {colour2}.
        ? What colour are the new huts? colour1
        ? What colour is the radio mast of {name}? colour2
        A supply plane from {city2} lands there every {day1}.
        ? From which city does the supply plane come? city2
        ? On which day does the supply plane land? day1
        In recent years the team has also observed {study2}, which costs {sum1} a year.
        ? What has the team also observed in recent years? study2
        ? How much do the new observations cost each year? sum1
        """,
        since=1950,
        gap=8,
    ),
    _kind(
        name="the {place1} Library",
        words={
            "owner": "bank, glove factory, post office, theatre, police station, hospital",
            "treasure": "herbal, atlas, cookbook, dictionary, songbook, almanac, hymn book",
            "reason": """the shelves were full, the floor had sunk, the windows were too small, the
                stairs were too steep""",
        },
        facts="""
        + {name} was a gift of {person1}, a wealthy {job1}, to the city of {city1} in {year1}.
        ? Who gave {name} to the city? person1
        ? To which city was {name} given? city1
        ? When was {name} given to the city? year1
        ? What was the profession of {person1}? job1
        + The present building, a former {owner1}, was rebuilt by the architect {person2} in \
            {year2}.
        ? What was the present building of {name} before? owner1
        ? Who rebuilt the present building? person2
        ? When was the present building rebuilt? year2
        This was done because {reason1}.
        ? Why was the building of {name} rebuilt? reason1
        It holds {many1} books, and its oldest is a {treasure1} of {hundreds1} pages.
        ? How many books does {name} hold? many1
        ? What is the oldest book of {name}? treasure1
        ? How many pages does the oldest book have? hundreds1
        The reading tables are made of {wood1}, the shelves of {wood2}.
        ? What are the reading tables made of? wood1
        ? What are the shelves made of? wood2
        A {colour1} card is given to adults and a {colour2} one to children.
        ? What colour is the card for adults? colour1
        ? What colour is the card for children? colour2
        The library is closed on {day1}, and stories are read aloud on {day2}.
        ? On which day is {name} closed? day1
        ? On which day are stories read aloud? day2
        """,
    ),
    _kind(
        name="{place1} Lighthouse",
        words={
            "rock": "Gull Rock, Seal Point, Cape {place}, Anvil Head, Long Reef, {place} Sands",
            "fuel": "whale oil, paraffin, gas, rapeseed oil, acetylene, coal",
            "reason": """lightning had struck it, the cliff was crumbling, ships mistook it for
                another, the old lamp had cracked""",
            "guest": "painters, birdwatchers, students, writers, cyclists",
        },
        facts="""
        + {name} stands on {rock1} and was completed in {year1} after {few1} years of work.
        ? Where does {name} stand? rock1
        ? When was {name} completed? year1
        ? How many years of work did {name} take? few1
        + Its first keeper was {person1}, and its last, {person2}, left in {year2}.
        ? Who was the first keeper of {name}? person1
        ? Who was the last keeper of {name}? person2
        ? When did the last keeper leave? year2
        The lamp burned {fuel1} at first and {fuel2} later, before electric light was installed.
        ? What did the lamp of {name} burn at first? fuel1
        ? What did the lamp of {name} burn later? fuel2
        The tower is {n1} metres high and is built of {stone1}.
        ? How high is the tower of {name}? n1
        ? What is the tower of {name} built of? stone1
        It is painted in {colour1} and {colour2} stripes, and {hundreds1} steps lead to the top.
        ? How many steps lead to the top of {name}? hundreds1
        The lamp room was rebuilt in {year3} because {reason1}.
        ? When was the lamp room rebuilt? year3
        ? Why was the lamp room rebuilt? reason1
        Today the keeper's house belongs to a club from {city1} and is let to {guest1} for {n2} \
            euros a night.
        ? In which city is the club that owns the keeper's house? city1
        ? To whom is the keeper's house let? guest1
        ? How many euros does a night in the keeper's house cost? n2
        """,
    ),
    _kind(
        name="the {place1} Garden",
        words={
            "plant": "roses, ferns, cacti, orchids, tulips, water lilies, magnolias, irises",
            "reason": """a late frost had killed them, deer had eaten them, the soil was too dry, a
                fungus had spread""",
            "visitor": "swans, peacocks, bats, bees, tortoises, owls",
        },
        facts="""
        + {name} near {city1} was laid out in {year1} by {person1} for a collection of {plant1}.
        ? Near which city is {name}? city1
        ? When was {name} laid out? year1
        ? Who laid out {name}? person1
        ? For which plants was {name} laid out? plant1
        + In {year2} {person2} gave it a glasshouse for {plant2} that cost {sum1}.
        ? When was the glasshouse given? year2
        ? Who gave {name} a glasshouse? person2
        ? Which plants grow in the glasshouse? plant2
        ? How much did the glasshouse cost? sum1
        Some beds had to be planted again in {year3} because {reason1}.
        ? When did some beds have to be planted again? year3
        ? Why did some beds have to be planted again? reason1
        It covers {n1} hectares and is looked after by {few1} gardeners.
        ? How many hectares does {name} cover? n1
        ? How many gardeners look after {name}? few1
        A {stone1} fountain stands in the middle, next to a {colour1} bench.
        ? What is the fountain made of? stone1
        ? What colour is the bench next to the fountain? colour1
        Children come mainly to see the {visitor1}, which are fed every {day1}.
        ? What do children mainly come to see? visitor1
        ? On which day are the {visitor1} fed? day1
        The gate, once {colour2}, is opened at dawn from {month1} onwards.
        ? What colour was the gate once? colour2
        ? From which month onwards is the gate opened at dawn? month1
        """,
    ),
    _kind(
        name="{place1} {side1}",
        words={
            "side": "Rovers, United, Athletic, Wanderers, Albion, Rangers",
            "player": "goalkeeper, captain, defender, striker",
            "reason": """the pitch was frozen, the visitors had missed the train, the floodlights
                had failed, the ball had burst""",
            "nickname": "the Millers, the Herons, the Bakers, the Foxes, the Weavers, the Miners",
        },
        facts="""
        + {name} is a football club that was founded in {year1} by {person1}, a {job1}.
        ? When was {name} founded? year1
        ? Who founded {name}? person1
        ? What was the profession of {person1}? job1
        + It won its only cup in {year2}, when the {player1} {person2} scored in the last minute \
            of the final in {city1}.
        ? When did {name} win its only cup? year2
        ? Who scored in the last minute of the final? person2
        ? In which city was the final played? city1
        ? What position did {person2} play? player1
        Its supporters call the team {nickname1}.
        ? What do the supporters call the team? nickname1
        The team plays in {colour1} shirts at home and in {colour2} shirts away.
        ? What colour are the home shirts of {name}? colour1
        ? What colour are the away shirts of {name}? colour2
        The stadium has {many1} seats, of which {hundreds1} are kept for visitors.
        ? How many seats does the stadium of {name} have? many1
        ? How many seats are kept for visitors? hundreds1
        Its longest match, in {year3}, was stopped because {reason1}.
        ? In what year did the longest match take place? year3
        ? Why was the longest match stopped? reason1
        The youth team trains every {day1} and has {n1} members.
        ? On which day does the youth team train? day1
        ? How many members does the youth team have? n1
        A new stand, built of {stone1}, cost {money1}.
        ? What is the new stand built of? stone1
        ? How much did the new stand cost? money1
        """,
    ),
    _kind(
        name="the {place1} Railway",
        words={
            "freight": "milk, slate, coal, apples, cattle, peat, sugar beet, barrels",
            "reason": """the tunnel had flooded, snow blocked the track, a bridge had cracked, the
                engine had no coal""",
            "owner": "school, tea room, youth hostel, garden centre, brewery",
        },
        facts="""
        + {name} was opened in {year1} and was paid for by {person1}, who owned a factory in \
            {city1}.
        ? When was {name} opened? year1
        ? Who paid for {name}? person1
        ? In which city did {person1} own a factory? city1
        + It closed in {year2}, but volunteers led by {person2} saved the line and run {few1} \
            trains a day.
        ? When did {name} close? year2
        ? Who led the volunteers who saved {name}? person2
        ? How many trains a day do the volunteers run? few1
        In its early days it carried {freight1}, and later mostly {freight2}.
        ? What did {name} carry in its early days? freight1
        ? What did {name} mostly carry later? freight2
        The line is {n1} kilometres long and has {few2} stations.
        ? How long is the line? n1
        ? How many stations does {name} have? few2
        The oldest engine is {colour1}, and the carriages are {colour2} with seats of {wood1}.
        ? What colour is the oldest engine? colour1
        ? What colour are the carriages? colour2
        ? What are the seats made of? wood1
        One winter all trains stopped for {n2} hours because {reason1}.
        ? For how many hours did all trains stop one winter? n2
        ? Why did all trains stop one winter? reason1
        The last station building is now a {owner1}.
        ? What is the last station building now? owner1
        A day ticket is valid from {month1} to {month2}, and the line earned {sum1} last year.
        ? How much did the line earn last year? sum1
        """,
        since=1920,
        gap=15,
    ),
    _kind(
        name="the {last1} Theatre",
        words={
            "origin": "grain store, riding school, swimming bath, church, ballroom, market hall",
            "play": "The {shade} {image}",
            "reason": """the curtain had caught fire, the leading actor was ill, the orchestra was
                late, the lights had failed""",
            "symbol": "lion, moon, harp, ship, mask, rooster",
        },
        facts="""
        + {name} in {city1} was opened in {year1} in a former {origin1} by the actor {person1}.
        ? In which city is {name}? city1
        ? When was {name} opened? year1
        ? In what kind of building was {name} opened? origin1
        ? Who opened {name}? person1
        + The first play was {play1}, and the most successful one, {play2}, was written by \
            {person2} in {year2}.
        ? What was the first play at {name}? play1
        ? What was the most successful play at {name}? play2
        ? Who wrote the most successful play? person2
        ? When was the most successful play written? year2
        Only one evening ended early, because {reason1}.
        ? Why did one evening end early? reason1
        There are {hundreds1} seats, {n1} of them on the balcony.
        ? How many seats does {name} have? hundreds1
        ? How many seats are on the balcony? n1
        The seats are {colour1}, and the curtain is {colour2}.
        ? What colour are the seats of {name}? colour1
        ? What colour is the curtain of {name}? colour2
        A {metal1} {symbol1} stands above the entrance.
        ? What stands above the entrance? symbol1
        ? What is the {symbol1} above the entrance made of? metal1
        The roof was repaired in {year3} for {sum1}.
        ? When was the roof repaired? year3
        ? How much did it cost to repair the roof? sum1
        There is no performance on {day1}.
        ? On which day is there no performance? day1
        """,
    ),
    _kind(
        name="the Hotel {brand1}",
        words={
            "view": "harbour, glacier, cathedral, botanical garden, vineyards, fish market",
            "dish": "trout with almonds, onion soup, lemon pudding, roast duck, mushroom pie",
            "reason": """the boiler had burst, the owners were quarrelling, the road had washed
                away, too few guests came""",
        },
        facts="""
        + {name} in {city1} was built for {person1} in {year1} and has a view of the {view1}.
        ? In which city is {name}? city1
        ? For whom was {name} built? person1
        ? When was {name} built? year1
        ? What can be seen from {name}? view1
        + It was bought in {year2} by {person2}, a {job1}, for {money1}.
        ? When was {name} bought by {person2}? year2
        ? Who bought {name} in {year2}? person2
        ? What was the profession of {person2}? job1
        ? How much did {person2} pay for {name}? money1
        The house has {n1} rooms, but only {few1} of them have a balcony.
        ? How many rooms does {name} have? n1
        ? How many rooms have a balcony? few1
        In {year3} it was shut for a whole season because {reason1}.
        ? In what year was {name} shut for a whole season? year3
        ? Why was {name} shut for a whole season? reason1
        The restaurant is famous for its {dish1}.
        ? What is the restaurant famous for? dish1
        The front is {colour1}, and the stairs are covered with a {colour2} carpet.
        ? What colour is the front of {name}? colour1
        ? What colour is the carpet on the stairs? colour2
        The bar is made of {wood1}, and music is played there every {day1}.
        ? What is the bar made of? wood1
        ? On which day is music played in the bar? day1
        """,
    ),
    _kind(
        name="the {place1} Orchestra",
        words={
            "hall": "corn exchange, boat shed, gymnasium, chapel, dairy, canteen",
            "instrument": "cello, oboe, harp, trumpet, viola, bassoon, flute",
            "reason": """the scores had been lost, the hall was too cold, the conductor had broken
                an arm, the piano was out of tune""",
        },
        facts="""
        + {name} was formed in {year1} by {person1}, who played the {instrument1}.
        ? When was {name} formed? year1
        ? Who formed {name}? person1
        ? Which instrument did {person1} play? instrument1
        + Since {year2} its conductor has been {person2}, who studied the {instrument2} in {city1}.
        ? Who is the conductor of {name}? person2
        ? Since when has {person2} been the conductor? year2
        ? Which instrument did the conductor study? instrument2
        ? In which city did the conductor study? city1
        The musicians rehearse in a {hall1} every {day1}.
        ? Where do the musicians rehearse? hall1
        ? On which day do the musicians rehearse? day1
        The orchestra has {n1} members, of whom {few1} are still at school.
        ? How many members does {name} have? n1
        ? How many members are still at school? few1
        A concert in {city2} had to be postponed because {reason1}.
        ? In which city was a concert postponed? city2
        ? Why did a concert have to be postponed? reason1
        On stage the players wear {colour1} jackets with a {colour2} ribbon.
        ? What colour are the jackets of the players? colour1
        ? What colour is the ribbon? colour2
        In {year3} it made a recording that sold {many1} copies and brought in {sum1}.
        ? When did {name} make a recording? year3
        ? How many copies of the recording were sold? many1
        ? How much money did the recording bring in? sum1
        """,
        since=1950,
        gap=8,
    ),
)


def question_texts(count: int, seed: int = 0) -> list[tuple[str, str]]:
    """Questions, each with a context that holds its answer; all pairs are different.

    The same seed gives the same pairs in every process, and a larger count
    starts with the pairs of a smaller one. Questions about one context follow
    each other, at most `MAX_QUESTIONS` of them.

    Args:
        count: how many questions to write.
        seed: which sequence of questions.

    >>> pairs = question_texts(100)
    >>> len(set(pairs)), pairs[:50] == question_texts(50)
    (100, True)
    >>> all(MIN_WORDS <= len(context.split()) <= MAX_WORDS for _, context in pairs)
    True
    """
    return [(question, context) for question, context, _ in questions_with_answers(count, seed)]


def questions_with_answers(count: int, seed: int = 0) -> list[tuple[str, str, str]]:
    """The pairs of `question_texts`, each with the answer that was meant.

    The answer is a short span that occurs exactly once in the context.

    Args:
        count: how many questions to write.
        seed: which sequence of questions.

    >>> asked = questions_with_answers(100)
    >>> all(context.count(answer) == 1 for _, context, answer in asked)
    True
    """
    rng = random.Random(seed)
    asked: dict[tuple[str, str], str] = {}
    while len(asked) < count:
        context, answers = _context(rng)
        for question, answer in _asked(rng, context, answers):
            asked.setdefault((question, context), answer)
    return [(question, context, answer) for (question, context), answer in asked.items()][:count]


def _context(rng: random.Random) -> tuple[str, list[tuple[str, str]]]:
    """A context, and the questions it can answer, each with its answer."""
    kind = KINDS[below(rng, len(KINDS))]
    values = _values(rng, kind)
    facts = _chosen(rng, kind.facts)
    context = " ".join(_written(fact.sentence, values) for fact in facts)
    questions = [pair for fact in facts for pair in fact.questions]
    return context, [(_written(question, values), values[slot]) for question, slot in questions]


def _values(rng: random.Random, kind: Kind) -> dict[str, str]:
    """What each slot of the kind stands for; numbered slots of one table differ."""
    patterns = [kind.name, *(fact.sentence for fact in kind.facts)]
    slots = dict.fromkeys(slot for pattern in patterns for slot in _SLOT.findall(pattern))
    tables = {**_SLOTS, **kind.words, "year": ("",), "name": ("",)}
    values: dict[str, str] = {}
    year = kind.since + below(rng, 40)
    for number in "123":
        values["year" + number] = str(year)
        year += kind.gap + below(rng, kind.gap + 1)
    for slot in slots:
        while slot not in values and slot != "name":
            value = fill(rng, tables, "{" + slot.rstrip("123") + "}")
            if value not in values.values():
                values[slot] = value
    values["name"] = _SLOT.sub(lambda match: values[match[1]], kind.name)
    return values


def _chosen(rng: random.Random, facts: tuple[Fact, ...]) -> list[Fact]:
    """The facts that no context leaves out and two to four others, in their order."""
    others = [fact for fact in facts if not fact.always]
    wanted = 2 + below(rng, 3)
    while len(others) > wanted:
        others.pop(below(rng, len(others)))
    return [fact for fact in facts if fact.always or fact in others]


def _asked(
    rng: random.Random, context: str, answers: list[tuple[str, str]]
) -> list[tuple[str, str]]:
    """One to four of the questions that the context answers in one place only."""
    fit = [
        (question, answer)
        for question, answer in answers
        if context.count(answer) == 1 and answer not in question
    ]
    wanted = 1 + below(rng, MAX_QUESTIONS)
    asked: list[tuple[str, str]] = []
    while fit and len(asked) < wanted:
        asked.append(fit.pop(below(rng, len(fit))))
    return asked


def _written(pattern: str, values: Mapping[str, str]) -> str:
    """The pattern with its values, the right articles and a capital letter."""
    text = _SLOT.sub(lambda match: values[match[1]], pattern)
    text = _ARTICLE.sub(lambda match: match[1] + ("n " if vowel_sound(match[2]) else " "), text)
    return text[0].upper() + text[1:]
