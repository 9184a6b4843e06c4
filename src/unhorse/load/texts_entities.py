"""unhorse's own sentences with names in them, for token classifiers without samples.

The sentences are not labelled: the scanned model tags them itself. They are
split into words as CoNLL does it, so that punctuation marks and "'s" are words
of their own. Taggers differ in what they know, so beside people, organisations,
places and other names (PER, ORG, LOC, MISC) many sentences have a date, a sum
of money or a percentage.
"""

from __future__ import annotations

import random
import re

from unhorse.load.text_names import (
    BODIES,
    CITIES,
    DAYS,
    FIRST_NAMES,
    LANGUAGES,
    MONTHS,
    NATIONALITIES,
    ORGANISATION_PARTS,
    REGIONS,
    RIVERS,
    SURNAMES,
    TITLE_PARTS,
    TOWNS,
    Slots,
    fill,
    pick,
    vowel_sound,
)
from unhorse.load.text_words import lines, listed

MIN_WORDS = 5
MAX_WORDS = 40
MAX_ENTITIES = 4

Sentence = tuple[tuple[str, ...], tuple[str, ...]]

# What each slot of a template is; every other slot is an ordinary word.
KINDS = {
    "person": "PER",
    "full": "PER",
    "surname": "PER",
    "city": "LOC",
    "its_country": "LOC",
    "town": "LOC",
    "next_town": "LOC",
    "country": "LOC",
    "river": "LOC",
    "region": "LOC",
    "company": "ORG",
    "maker": "ORG",
    "airline": "ORG",
    "publisher": "ORG",
    "university": "ORG",
    "ministry": "ORG",
    "club": "ORG",
    "society": "ORG",
    "paper": "ORG",
    "body": "ORG",
    "nationality": "MISC",
    "language": "MISC",
    "race": "MISC",
    "cup": "MISC",
    "games": "MISC",
    "festival": "MISC",
    "prize": "MISC",
    "work": "MISC",
    "product": "MISC",
    "date": "DATE",
    "deadline": "DATE",
    "day": "DATE",
    "month": "DATE",
    "year": "DATE",
    "season": "DATE",
    "money": "MONEY",
    "price": "MONEY",
    "percent": "PERCENT",
    "share": "PERCENT",
}

# Words at the start of a filling that are no part of the name.
_OUTSIDE = frozenset(listed("the, Dr, Professor, Mr, Ms, Captain, Judge"))
_DOUBLED = re.compile(r"\b(\w+) and \1\b")

_SLOTS: Slots = {
    **ORGANISATION_PARTS,
    **TITLE_PARTS,
    "first": FIRST_NAMES,
    "last": SURNAMES,
    "initial": tuple(letter + "." for letter in "ABCDEFGHJKLMNPRSTVW"),
    "title": listed("Dr, Professor, Captain, Judge"),
    "polite": listed("Mr, Ms"),
    "full": ("{first} {last}",) * 6 + ("{first} {initial} {last}",),
    "surname": ("{last}",),
    "person": ("{full}",) * 7 + ("{last}",) * 2 + ("{title} {full}", "{polite} {last}"),
    "city": tuple(CITIES),
    "town": tuple(town for area in TOWNS.values() for town in area),
    **TOWNS,
    "country": tuple(NATIONALITIES),
    "river": tuple("the " + river for river in RIVERS),
    "region": REGIONS,
    "nationality": tuple(NATIONALITIES.values()),
    "language": LANGUAGES,
    "company": listed(
        """{brand} {sector}, {brand} {sector}, {last} {firm}, {last} {firm}, {last} {sector},
        {brand} {firm}, {last} and {last}, the Bank of {city}"""
    ),
    "maker": listed(
        "{last} & Sons, {last} Brothers, {brand} Industries, {last} Limited, {brand} Works"
    ),
    "airline": listed("{brand} Airways, {brand} Air, {last} Airlines, {brand} Airlines"),
    "publisher": listed("{last} Publishing, {brand} Press, {last} & Daughters, {brand} Books"),
    "university": listed(
        """the University of {city}, the University of {city}, {city} University,
        the {city} Institute of {science}, the {last} Institute of {science}, {last} College"""
    ),
    "ministry": (
        "the Ministry of {portfolio}",
        "the Ministry of {portfolio} and {portfolio}",
        "the Department of {portfolio}",
        "the National Office of {portfolio}",
        "the {city} City Council",
        "the {nationality} Ministry of {portfolio}",
    ),
    "club": listed("{city} {side}, {city} {side}, {brand} {side}, Sporting {city}"),
    "society": listed("the {city} {circle}, the {city} {circle}, the {last} {circle}"),
    "paper": listed("the {city} {masthead}, the {city} {masthead}, the {brand} {masthead}"),
    "body": BODIES,
    "race": listed("the {city} Marathon, the {city} Half Marathon, the {brand} Triathlon"),
    "cup": listed("the {brand} Cup, the {last} Trophy, the {last} Cup, the {last} Shield"),
    "games": listed(
        """the Olympic Games, the World Games, the University Games, the Masters Games,
        the {brand} Games"""
    ),
    "festival": listed(
        """the {city} Film Festival, the {city} Biennale, the {brand} Festival, the {last}
        Festival, the {city} Film Week"""
    ),
    "prize": listed(
        "the {last} Prize, the {last} Medal, the {brand} Award, the {nationality} Prize"
    ),
    "work": listed(
        """The {shade} {image}, The {shade} {image}, {image} and {image}, A {shade} {image},
        The {image} of {city}, Letters from {city}, Return to {city}, The Last {image}"""
    ),
    "product": listed("{make} {model}, {make} {model}, {make}, {brand} {model}"),
    "make": listed(
        """Solara, Lumo, Veloxa, Kestro, Tavira, Orbix, Zentra, Pinova, Mirado, Quillon, Fennec,
        Arvena, Toruna, Caldera, Nordica, Elvano"""
    ),
    "model": listed("X2, 40, 500, S, Pro, Mini, 7, GT, 12, Max, R3, Plus, Air, 3000, Neo, K9"),
    "day": DAYS,
    "month": MONTHS,
    "year": tuple(str(year) for year in range(1951, 2020)),
    "dayno": tuple(str(number) for number in range(1, 29)),
    "date": ("{dayno} {month} {year}", "{month} {dayno} , {year}", "{month} {dayno}"),
    "deadline": ("{month} {dayno}", "{dayno} {month}"),
    "season": listed("{month} {year}, the summer of {year}, the spring of {year}, early {month}"),
    "small": tuple(str(number) for number in range(2, 20)),
    "tens": tuple(str(number) for number in range(12, 98)),
    "tenths": tuple(f"{number / 10:.1f}" for number in range(11, 99) if number % 10),
    "money": (
        "$ {tenths} million",
        "$ {tens} million",
        "{tenths} million euros",
        "{tens} million dollars",
        "{tens} million crowns",
        "{tens}0,000 pounds",
        "$ {tens}5,000",
        "{tens}0,000 francs",
    ),
    "price": listed("{tens}0 euros, $ {tens}9, {tens}5 dollars, {tens} pounds, $ {tens}"),
    "percent": listed("{tenths} percent, {small} percent, {small} %, {tenths} %"),
    "share": listed("{tens} percent, {tens} %, {tens}.5 percent"),
    "n": listed("three, four, five, six, seven, eight, nine, ten, twelve, fifteen, twenty, thirty"),
    "job": listed(
        """architect, engineer, teacher, surgeon, translator, photographer, economist, botanist,
        geologist, composer, historian, librarian, carpenter, accountant, designer, pilot, chemist,
        sculptor, journalist, physicist"""
    ),
    "goods": listed(
        """timber, cheese, bicycles, coffee, copper, glass bottles, tractors, cotton, olive oil,
        batteries, tea, ceramic tiles, fishing nets, solar panels, paper, wool"""
    ),
    "wares": listed(
        """cheese, bicycles, copper wire, glass bottles, tractors, door handles, violins, batteries,
        fishing nets, solar panels, writing paper, wool blankets, bathroom tiles, garden tools"""
    ),
    "building": listed(
        """library, bridge, hospital, tram line, concert hall, railway station, sports centre,
        water tower, market hall, primary school, ferry terminal, observatory"""
    ),
    "sport": listed(
        "rowing, swimming, fencing, judo, cycling, badminton, tennis, archery, sailing, karate"
    ),
    "creature": listed(
        """beetles, frogs, orchids, bats, mosses, songbirds, butterflies, river fish, owls, lichens,
        snails, wild bees"""
    ),
}

TEMPLATES = lines(
    """
    {person} lives in {city} .
    {person} and {person} were elected to the council of {city} on {day} .
    Voters in {city} will choose a new mayor in {month} , {paper} reported .
    The {nationality} government has sent its yearly report to {body} .
    {ministry} published a report on school meals on {date} .
    {person} , a spokesman for {ministry} , said the {building} would open in {month} .
    " The work is going well , " {person} told {paper} .
    {country} and {country} signed an agreement on the trade in {goods} in {city} on {day} .
    Heavy rain delayed the trains between {town} and {next_town} by {n} hours .
    The new {building} in {city} , {its_country} , cost {money} and was designed by {full} .
    Officials from {body} met {nationality} teachers in {city} .
    {body} will hold its next meeting in {city} in {month} .
    According to {paper} , {n} visitors from {country} came to see the new {building} in {city} .
    The mayor of {city} , {full} , met the head of {body} .
    Anglers on {river} caught fewer fish in {season} , {person} said .
    A spokeswoman for {body} confirmed that {person} would speak in {city} on {deadline} .
    More than {share} of the households in {region} now have a fast connection , \
        according to {ministry} .
    In {city} , {n} people signed a letter to {person} about the old {building} .
    The letter was addressed to {person} , {person} and {ministry} .
    {club} beat {club} by two goals in {city} on {day} .
    {full} scored twice for {club} .
    {person} won the {sport} final ahead of {person} of {country} .
    After {n} seasons with {club} , {full} is moving to {club} .
    The {sport} team from {city} trains at {university} every {day} .
    {surname} finished {race} in a little over two hours , with {surname} close behind .
    {cup} was first awarded in {city} in {year} .
    {club} signed the {nationality} goalkeeper {full} for {money} .
    The coach of {club} , {full} , said the {nationality} players had adapted quickly .
    {full} ( {country} ) and {full} ( {country} ) share first place after {n} rounds .
    Entries for {race} opened in {month} , and {share} of the places were gone within an hour .
    {person} will represent {country} in {sport} at {games} .
    {club} first reached the final of {cup} in {year} .
    The referee , {full} of {country} , stopped the match between {club} and {club} because of fog .
    Rain delayed the start of {race} on {day} .
    {society} has {n} new members , most of them from {country} .
    {full} , {full} and {full} were on the podium .
    {company} reported {percent} more orders than a year ago .
    {full} has been named chief executive of {company} .
    {company} bought a small rival , {company} , for {money} .
    Shares in {company} rose {percent} on {day} after the firm raised its forecast .
    The {nationality} company {maker} will build a factory near {city} , \
        where it plans to hire {n} engineers and make {wares} for customers in {country} .
    {maker} , based in {city} , makes {wares} .
    The {product} will go on sale in {country} in {month} .
    {person} founded {company} in {year} with a loan of {price} .
    Exports of {goods} from {country} to {country} grew by {percent} in {year} .
    {company} has opened an office in {city} , its first in {its_country} .
    The price of the {product} starts at {price} .
    Analysts at {company} expect the {nationality} economy to grow by {percent} .
    {full} , who joined {company} from {company} , will run the office in {city} .
    Workers at {company} in {city} will receive {percent} more pay from next year , \
        under an agreement that was signed by {full} after {n} days of talks .
    Each {product} is tested by hand in {city} .
    The contract between {company} and {ministry} is worth {money} .
    The {product} is lighter than the {product} , and it costs {price} less .
    The night train from {town} to {next_town} leaves on {day} .
    {full} walked from {town} to {next_town} in {n} weeks .
    Visitors to {region} often speak a little {language} .
    The ferry crosses {river} {n} times a day , and most of its passengers are {nationality} .
    A guide who speaks {language} met the {nationality} visitors at the station in {city} .
    The best honey in the market , said {person} , comes from {region} .
    {airline} flies from {city} to {city} every {day} .
    The road through {region} was built in {year} and repaired with {money} from {ministry} .
    {person} took the photograph on the banks of {river} in {season} .
    From the hotel in {city} , {its_country} , it is a short walk to the {building} .
    {person} plans to cross {region} on foot in {month} .
    {person} drove a {product} from {town} to {next_town} .
    Guests from {country} , {country} and {country} stayed at the hostel in {city} .
    {person} , a {nationality} {job} , spent {year} in {region} .
    {airline} and {airline} share a lounge at the airport in {city} .
    {full} studies {creature} at {university} .
    Researchers at {university} counted {n} kinds of {creature} in {region} .
    A team led by {full} of {university} has counted the {creature} along {river} since {year} .
    {university} and {university} will share a telescope .
    The study , paid for by {body} , compared {creature} in {country} with those in {country} .
    {person} presented the results at a conference in {city} on {date} .
    The satellite , built by {company} for {university} , will be launched in {month} .
    {share} of the samples came from {region} , wrote {person} .
    The {nationality} {job} {full} received {prize} for a map of {river} .
    {ministry} gave {university} a grant of {money} to study {creature} .
    {surname} and {surname} first described the method in {year} .
    Students from {country} can apply to {university} until {deadline} .
    In {year} the {nationality} geologist {full} measured the depth of {river} \
        near its mouth , and the figures can still be read in the archive on the second floor .
    It was raining when the travellers reached {city} .
    The next speaker will be {person} .
    {city} 's oldest {building} is being repaired .
    {full} 's second book , " {work} " , is set in {region} .
    The prime minister of {country} visited {company} 's new factory near {city} on {day} .
    The letter is written in {language} .
    After a short break , {person} answered questions about the new {building} .
    Nobody in the room had expected the second prize to go to {person} .
    The rooms on the first floor are rented by {company} .
    {n} boxes of {goods} arrived from {country} .
    The concert has been moved to {city} because the {building} is being repaired .
    The water of {river} was unusually clear .
    The children in the front row had come by bus from {region} .
    {full} wrote " {work} " in {city} .
    The novel " {work} " has been translated into {language} and {language} .
    " {work} " , a film by {full} , opened {festival} .
    {full} will sing in {language} at the concert hall in {city} on {day} .
    The museum in {city} bought a painting by the {nationality} artist {full} for {money} .
    {person} teaches {language} at a school in {city} .
    An exhibition about {river} opens at {university} on {deadline} .
    The play is based on " {work} " by {full} , who was born in {city} , {its_country} .
    {paper} called " {work} " the most careful {nationality} novel of {year} .
    The orchestra from {city} recorded " {work} " with the pianist {full} .
    {full} , a {job} from {city} , has a small part in " {work} " .
    Readers of {paper} chose " {work} " as the book of the year .
    A {nationality} choir sang folk songs in {language} for the guests of {body} .
    The dictionary of {language} was edited by {full} and printed by {publisher} in {year} .
    {publisher} paid {price} for the letters of the {nationality} poet {full} .
    {festival} showed {n} films from {country} .
    The {job} next to {full} in the picture is {person} .
    Who will replace {person} at {company} ?
    Did {person} study at {university} before {year} ?
    """
)

# What may follow a sentence that does not yet say where it comes from.
TAILS = lines(
    """
    according to {paper}
    {paper} reported
    {paper} wrote on {day}
    {person} said
    {person} told {paper}
    the {nationality} press agency reported
    """
)


def entity_sentences(count: int, seed: int = 0) -> list[tuple[str, ...]]:
    """English sentences with names, each as its words, all different.

    The same seed gives the same sentences in every process, and a larger count
    starts with the sentences of a smaller one.

    Args:
        count: how many sentences to write.
        seed: which sequence of sentences.

    >>> sentences = entity_sentences(200)
    >>> len(set(sentences)), sentences[:100] == entity_sentences(100)
    (200, True)
    >>> all(MIN_WORDS <= len(words) <= MAX_WORDS for words in sentences)
    True
    """
    return [words for words, _ in tagged_sentences(count, seed)]


def tagged_sentences(count: int, seed: int = 0) -> list[Sentence]:
    """The sentences of `entity_sentences`, each with the intended tag of every word.

    The scan does not use these tags; they say what was meant to be a name.

    Args:
        count: how many sentences to write.
        seed: which sequence of sentences.

    >>> words, tags = tagged_sentences(1)[0]
    >>> len(words) == len(tags), {tag[:2] for tag in tags} <= {"B-", "I-", "O"}
    (True, True)
    """
    rng = random.Random(seed)
    sentences: dict[tuple[str, ...], tuple[str, ...]] = {}
    while len(sentences) < count:
        words, tags = _sentence(rng)
        if MIN_WORDS <= len(words) <= MAX_WORDS:
            sentences.setdefault(words, tags)
    return list(sentences.items())


def _sentence(rng: random.Random) -> Sentence:
    """One template, filled, with the tag of every word."""
    words: list[str] = []
    tags: list[str] = []
    used: set[str] = set()
    city = ""
    for part in _template(rng).split():
        slot = part[1:-1] if part[0] == "{" else ""
        if not slot:
            filling = part
        elif slot == "its_country":
            filling = CITIES[city]
        elif slot == "next_town":
            filling = _fresh(rng, next(area for area in TOWNS if city in TOWNS[area]), used)
        else:
            filling = _fresh(rng, slot, used)
        if slot in ("city", "town"):
            city = filling
        named = filling.split()
        words += named
        tags += _tags(named, KINDS.get(slot))
    return _written(words), tuple(tags)


def _template(rng: random.Random) -> str:
    """A template, now and then with a tail that says who reported it."""
    template = pick(rng, TEMPLATES)
    tail = pick(rng, TAILS)
    wants_tail = rng.random() < 0.3
    sourced = template[-1] == "?" or " said" in template or '"' in template or "{paper}" in template
    if not wants_tail or sourced or _entities(template) + _entities(tail) > MAX_ENTITIES:
        return template
    return f"{template[:-2]} , {tail} ."


def _entities(template: str) -> int:
    return sum(part[1:-1] in KINDS for part in template.split())


def _fresh(rng: random.Random, slot: str, used: set[str]) -> str:
    """A filling of the slot, not yet used in this sentence if eight draws find one."""
    for _ in range(8):
        filling = fill(rng, _SLOTS, "{" + slot + "}")
        if filling not in used and not _DOUBLED.search(filling):
            break
    used.add(filling)
    return filling


def _tags(named: list[str], kind: str | None) -> list[str]:
    """The tags of one filling: outside, then the begin of the name, then its inside."""
    if kind is None:
        return ["O"] * len(named)
    # "the summer of 1998" is a date as a whole, "the Danube" a name and its article.
    outside = 0
    while kind != "DATE" and named[outside] in _OUTSIDE:
        outside += 1
    return ["O"] * outside + ["B-" + kind] + ["I-" + kind] * (len(named) - outside - 1)


def _written(words: list[str]) -> tuple[str, ...]:
    """The words with "an" where it belongs and a capital letter at the start."""
    for index, word in enumerate(words[:-1]):
        if word in ("a", "A") and vowel_sound(words[index + 1]):
            words[index] = word + "n"
    start = next(index for index, word in enumerate(words) if word != '"')
    words[start] = words[start][0].upper() + words[start][1:]
    return tuple(words)
