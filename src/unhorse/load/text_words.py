"""The general words and sentence patterns behind `texts.py`, and English word forms.

A pattern is a sentence with slots in braces. Slots named here fit every topic;
`thing things role roles stuff trait place verb verbs verbed verbing` are filled
from the topic of the text (`text_topics.py`). Articles are always written "a":
the generator turns them into "an" where the next word asks for it.
"""

from __future__ import annotations

_PLURALS = {
    "loaf": "loaves",
    "shelf": "shelves",
    "knife": "knives",
    "midwife": "midwives",
    "leaf": "leaves",
    "calf": "calves",
    "scarf": "scarves",
    "goose": "geese",
    "mouse": "mice",
    "tooth": "teeth",
    "sheep": "sheep",
    "child": "children",
    "series": "series",
    "aircraft": "aircraft",
    "spacecraft": "spacecraft",
    "potato": "potatoes",
    "tomato": "tomatoes",
    "tornado": "tornadoes",
    "volcano": "volcanoes",
    "mango": "mangoes",
    "echo": "echoes",
    "quiz": "quizzes",
    "hypothesis": "hypotheses",
    "analysis": "analyses",
    "crisis": "crises",
    "bus": "buses",
    "cactus": "cacti",
    "bookshelf": "bookshelves",
    "jellyfish": "jellyfish",
    "starfish": "starfish",
    "goldfish": "goldfish",
}


def listed(text: str) -> tuple[str, ...]:
    """The comma-separated entries of a text, each with single spaces.

    >>> listed("rain, light snow,")
    ('rain', 'light snow')
    """
    return tuple(" ".join(entry.split()) for entry in text.split(",") if entry.strip())


def lines(text: str) -> tuple[str, ...]:
    """The lines of a text, trimmed, without empty ones.

    >>> lines("One.\\n  Two.\\n")
    ('One.', 'Two.')
    """
    return tuple(line.strip() for line in text.splitlines() if line.strip())


_DOUBLED = frozenset(
    listed(
        """chop, trim, wrap, ship, drop, plan, stop, scan, swap, log, submit, stir, grab, mop, pin,
        plot, tag, zip, skim, spot, map, tap, hum, strum, pat, rub, grip, refer, transfer, knit,
        admit, drag, skip, strip, trap, equip, snap, scrub, debug, cancel, label, model"""
    )
)


def plural(noun: str) -> str:
    """The plural of a countable noun; of several words the last one changes.

    >>> [plural(noun) for noun in ("boat", "bus stop", "berry", "lunch box", "bread knife")]
    ['boats', 'bus stops', 'berries', 'lunch boxes', 'bread knives']
    """
    head, space, last = noun.rpartition(" ")
    if last in _PLURALS:
        return head + space + _PLURALS[last]
    if last.endswith(("woman", "man")) and last != "human":
        return head + space + last[:-2] + "en"
    if last.endswith("y") and last[-2] not in "aeiou":
        return head + space + last[:-1] + "ies"
    return head + space + last + ("es" if last.endswith(("s", "x", "z", "ch", "sh")) else "s")


def third_person(verb: str) -> str:
    """What he or she does.

    >>> [third_person(verb) for verb in ("open", "carry", "fix")]
    ['opens', 'carries', 'fixes']
    """
    return plural(verb)


def past(verb: str) -> str:
    """The past of a regular verb.

    >>> [past(verb) for verb in ("open", "carry", "bake", "chop")]
    ['opened', 'carried', 'baked', 'chopped']
    """
    if verb in _DOUBLED:
        return verb + verb[-1] + "ed"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + ("d" if verb.endswith("e") else "ed")


def gerund(verb: str) -> str:
    """The -ing form of a regular verb.

    >>> [gerund(verb) for verb in ("open", "carry", "bake", "chop")]
    ['opening', 'carrying', 'baking', 'chopping']
    """
    if verb in _DOUBLED:
        return verb + verb[-1] + "ing"
    return (verb[:-1] if verb.endswith("e") and verb[-2] not in "eo" else verb) + "ing"


WORDS: dict[str, tuple[str, ...]] = {
    "day": listed("Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday"),
    "month": listed(
        """January, February, March, April, May, June, July, August, September, October,
        November, December"""
    ),
    "season": listed("spring, summer, autumn, winter"),
    "city": listed(
        """Oslo, Lisbon, Nairobi, Toronto, Osaka, Lima, Dublin, Cairo, Helsinki, Madrid, Denver,
        Boston, Chicago, Glasgow, Leeds, Vienna, Prague, Athens, Seoul, Hanoi, Auckland, Sydney,
        Perth, Montreal, Seattle, Austin, Bristol, Cardiff, Zurich, Geneva, Milan, Naples, Porto,
        Seville, Lyon, Antwerp, Rotterdam, Hamburg, Krakow, Budapest, Tallinn, Riga, Vilnius,
        Istanbul, Amman, Accra, Lagos, Kampala, Mumbai, Chennai, Kathmandu, Bangkok, Manila,
        Jakarta, Singapore, Santiago, Bogota, Quito, Havana, Winnipeg, Calgary, Omaha, Memphis"""
    ),
    "colour": listed(
        """red, blue, green, yellow, purple, grey, black, white, brown, pink, turquoise, crimson,
        navy, beige, silver, golden, maroon, lilac, scarlet, ivory"""
    ),
    "item": listed(
        """glove, scarf, umbrella, backpack, wallet, notebook, key ring, water bottle, hat,
        bracelet, earring, phone case, lunch box, mitten, purse, toy rabbit"""
    ),
    "count": listed(
        """two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, fifteen, twenty,
        thirty, forty, fifty, a hundred, several, a few, a dozen, some, many"""
    ),
    "n": tuple(str(number) for number in range(2, 99)),
    "clock": listed(
        """six, seven, half past seven, eight, nine, quarter past ten, noon, one, two,
        half past three, four, quarter to five, midnight, dawn, lunchtime, sunset"""
    ),
    "when": listed(
        """yesterday, this morning, last week, last {season}, on {day}, in {month}, at {clock},
        over the weekend, the other day, two days ago, earlier today, last night, at the last
        minute, shortly before {clock}, around {clock}, in early {month}, late on {day},
        a fortnight ago, the day before yesterday, on the first of {month}"""
    ),
    "duration": listed(
        """ten minutes, half an hour, an hour, two hours, three days, a week, two weeks, a month,
        six months, a year, twenty minutes, nine weeks, a day and a half, a fortnight, forty hours,
        a decade, four days, a quarter of an hour, five years, eleven months"""
    ),
    "period": listed("day, week, month, year, fortnight, season"),
    "family": listed(
        """mother, father, sister, brother, aunt, uncle, cousin, grandmother, grandfather,
        neighbour, friend, flatmate, daughter, son, niece, nephew, husband, wife, roommate,
        partner, colleague, godmother, stepbrother, classmate"""
    ),
    "manner": listed(
        """quietly, carefully, quickly, slowly, twice, with great care, in a hurry, without a word,
        by hand, in silence, patiently, cheerfully, reluctantly, calmly, briskly, politely,
        thoroughly, eagerly, gently, properly, hastily, clumsily, gladly, silently, nervously,
        confidently, secretly, steadily, gracefully, willingly, absentmindedly, promptly,
        efficiently, at once, step by step, without fuss, from memory, in good time"""
    ),
    "good": listed(
        """good, fine, lovely, pleasant, useful, excellent, delightful, impressive, reliable,
        wonderful, charming, remarkable, neat, decent, superb, enjoyable, satisfying, splendid,
        memorable, outstanding, refreshing, solid, worthwhile, flawless, first-rate, handy,
        beautiful, elegant, convincing, generous, thoughtful, welcome, promising, tasteful"""
    ),
    "great": listed(
        """perfect, amazing, brilliant, fantastic, magnificent, unforgettable, marvellous,
        astonishing, the best of its kind, worth every penny, a joy from start to finish,
        simply stunning, beyond anything we expected, terrific, glorious, breathtaking"""
    ),
    "bad": listed(
        """disappointing, dull, tedious, confusing, awkward, poor, mediocre, unreliable, messy,
        forgettable, frustrating, overpriced, clumsy, flimsy, shabby, unpleasant, bland, sloppy,
        annoying, careless, inadequate, lacklustre, tiresome, unconvincing,
        second-rate, faulty, uninspired, neglected, unimpressive, underwhelming, dreary"""
    ),
    "awful": listed(
        """terrible, awful, dreadful, a complete waste of time, hopeless, appalling, a disaster,
        unbearable, horrible, the worst in years, miserable, beyond repair, atrocious, abysmal"""
    ),
    "kind": listed(
        """friendly, patient, helpful, polite, attentive, cheerful, courteous, honest, calm,
        punctual, considerate, skilful, welcoming, well prepared, warm, gracious, capable,
        competent, sincere, modest, witty"""
    ),
    "unkind": listed(
        """rude, late, impatient, distracted, unhelpful, careless, grumpy, absent, vague, sulky,
        disorganised, dismissive, bored, unprepared, stubborn, arrogant, inattentive, gloomy"""
    ),
    "glad": listed(
        """happy, pleased, delighted, content, satisfied, thrilled, quite taken, impressed,
        comfortable, overjoyed"""
    ),
    "upset": listed(
        """worried, annoyed, upset, sad, furious, concerned, disappointed, uneasy, embarrassed,
        angry, anxious, heartbroken, bitter, alarmed, irritated"""
    ),
    "feeling": listed(
        """proud, nervous, relieved, lonely, curious, grateful, surprised, jealous, hopeful,
        guilty, excited, exhausted, calm, confused, frightened, amused, homesick, tired, ashamed,
        restless, tender, speechless, puzzled, optimistic, lucky, foolish, small, brave,
        nostalgic, sceptical, awkward, cheerful, touched, helpless, inspired"""
    ),
    "degree": listed("rather, quite, very, surprisingly, fairly, remarkably, unexpectedly"),
    "link": listed(
        """However, Later on, In the end, As far as I know, For some reason, Luckily, Meanwhile,
        After that, Even so, On the other hand, Of course, In fact, By then, Soon afterwards,
        Strangely enough, To my surprise, As usual, Eventually, At first, From what I hear,
        Apparently, Nevertheless, In addition, For example, Admittedly, Presumably, Oddly,
        Besides, Until recently, In theory, Once again"""
    ),
}

TAILS = lines(
    """
    , because the {things} were {trait}
    , although the {role} had {verbed} the {thing} {when}
    , as the {role} later explained
    , and nobody {place} seemed to mind
    , so we decided to wait until {day}
    , which surprised the {role}
    , even though it was {degree} {trait}
    , but the {stuff} was nowhere to be found
    , just as the {role} had told us in {month}
    , while my {family} stayed {place}
    , and that was the end of it
    , if I remember correctly
    , at least according to the {roles}
    , and then the {role} asked for {count} {things}
    , since there was no other {thing} {place}
    , despite the {stuff}
    """
)

PATTERNS: dict[str, tuple[str, ...]] = {
    "plain": lines(
        """
        The {role} {verbed} the {thing} {place}.
        {when}, the {role} {verbed} {count} {things}.
        There was a {trait} {thing} {place} {when}.
        Most of the {things} {place} were {trait}.
        We {verbed} the {trait} {thing} {manner} and went home.
        My {family} {verbed} a {thing} {place} {when}.
        A {role} from {city} {verbed} the {things} {place}.
        It took the {role} {duration} to {verb} the {thing}.
        Nobody {verbed} the {thing} until {day}.
        While the {role} was {verbing} the {thing}, the {role} waited {place}.
        The {role} in the {colour} jacket {verbed} a {thing}.
        Every {day}, the {role} {verbs} a {thing}.
        There was some {stuff} left {place}.
        The {thing} and the {thing} were both {trait}.
        I have been {verbing} {things} since {month}.
        The {role} usually {verbs} the {things} before the {role} arrives.
        According to the {role}, the {thing} is {trait}.
        People {place} were talking about the {thing}.
        Before {verbing} the {thing}, the {role} asked about the {stuff}.
        She {verbed} {count} {things} in {duration}.
        The {role} and the {role} {verbed} the {thing} {manner}.
        He {verbs} {trait} {things} {place}.
        Neither the {role} nor my {family} had {verbed} the {thing}.
        The {thing} {place} was {verbed} {when}.
        """
    ),
    "good": lines(
        """
        The {thing} turned out {degree} well.
        I was {glad} with the {thing}, and the {role} was {kind}.
        It was a {good} {thing}, and I would recommend it to anyone.
        The {role} was {kind} and {verbed} the {thing} without any trouble.
        Everything went to plan, and the {thing} was ready by {day}.
        Thanks to the {role}, the {things} were {good}.
        What a {good} {thing}!
        I really enjoyed the {stuff} {place}.
        We could not have asked for a better {thing}.
        After {duration}, the {thing} is still {good}.
        The {role} {verbed} the {things} {manner}, and it made our week.
        For once, the {thing} was as {good} as the {role} had promised.
        I absolutely loved the {thing}; it was {great}.
        My {family} says that the {stuff} was {great}.
        A {good} {thing} and a {kind} {role}: what more could you want?
        The {thing} was {good}, the {role} was {kind}, and we will be back in {month}.
        It is hard to find fault with such a {good} {thing}.
        The {roles} {place} were {kind} from the first minute.
        """
    ),
    "bad": lines(
        """
        The {thing} was not quite what we had hoped for.
        It was a {bad} {thing}, and the {role} was {unkind}.
        I expected more from the {thing}.
        The {role} forgot about the {things}, so we waited {duration}.
        Unfortunately, the {stuff} was {bad}.
        We had to ask for the {thing} twice, which was {bad}.
        The {things} were {bad}, and nobody apologised.
        After {duration}, the {role} gave up on the {thing}.
        I would not choose this {thing} again.
        The {role} never {verbed} the {thing}, although we had asked {manner}.
        What a {bad} {thing}.
        I am {upset} about the {thing} {place}.
        It could have been worse, but the {thing} was {degree} {bad}.
        The {thing} was late, the {role} was {unkind}, and the {stuff} was {bad}.
        Honestly, the {thing} was {awful}, and the {things} were no better.
        My {family} was {upset} because the {role} was so {unkind}.
        There were fewer {things} than last {season}, and the {stuff} was {awful}.
        The {role} promised a {good} {thing}, and we got a {bad} one.
        """
    ),
    "blunt": lines(
        """
        Stop complaining about the {thing} and do something useful.
        Nobody asked for your opinion about the {things}.
        That was a silly thing to say about the {role}.
        You clearly know nothing about {things}.
        Anyone who likes this {thing} has no taste at all.
        Only a fool would {verb} a {thing} like that.
        Be quiet and let the {role} work.
        I am sick of your {bad} excuses about the {stuff}.
        This is the dumbest {thing} I have seen since {month}.
        Your {thing} is ridiculous, and so are you.
        That {role} is lazy, {unkind} and hopeless.
        Go away and take your {things} with you.
        You and your {family} should be ashamed of that {thing}.
        What kind of idiot {verbs} a {thing} at {clock}?
        """
    ),
    "question": lines(
        """
        Has anyone seen the {thing} {place}?
        How long does it take to {verb} a {thing}?
        Which {role} {verbed} the {things} {when}?
        Do you know whether the {role} is {place}?
        Why is the {thing} so {trait}?
        Can I {verb} the {thing} myself, or do I need a {role}?
        What is the difference between a {thing} and a {thing}?
        Where can I find {trait} {things} in {city}?
        Would you rather {verb} the {thing} or wait for the {role}?
        Is there enough {stuff} for all of us?
        How much does a {trait} {thing} cost these days?
        Did your {family} ever {verb} a {thing}?
        Who left the {colour} {item} {place}?
        When will the {role} be back from {city}?
        """
    ),
    "request": lines(
        """
        Please {verb} the {thing} before {day}.
        Could you ask the {role} about the {stuff}?
        Remind me to {verb} the {things} at {clock}.
        Let me know when the {role} has {verbed} the {thing}.
        Tell the {role} that the {thing} is {trait}.
        Please send me a list of the {things} by {day}.
        Play something quiet while I {verb} the {thing}.
        Do not {verb} the {thing} without the {role}.
        Cancel my meeting with the {role} on {day}.
        Add {count} {things} and some {stuff} to my list.
        Show me pictures of {trait} {things} {place}.
        Kindly return the {colour} {item} to the {role}.
        """
    ),
    "report": lines(
        """
        {city} {role} {verbs} {count} {things}
        {trait} {things} {verbed} {place}, {roles} say
        Officials in {city} said on {day} that the {things} would be {verbed} by {month}.
        The number of {things} rose by {n} percent in {month}, according to a report.
        A survey of {n} {roles} found that most of them {verb} {things} at least once a {period}.
        New rules for {things} take effect in {month}.
        The {role} declined to comment on the {thing}.
        Interest in {things} was little changed on {day}.
        A team in {city} has {verbed} the first {trait} {thing} of the year.
        Plans for a {trait} {thing} {place} were approved on {day} after {duration} of debate.
        Two {roles} were hurt when a {thing} fell {place} {when}.
        Demand for {stuff} fell for the third {period} in a row.
        """
    ),
    "offer": lines(
        """
        Order {count} {things} today and get the next {thing} free.
        Limited offer: {n} percent off every {thing} until {day}!
        Congratulations, you have been chosen to receive a {thing}; reply YES to claim it.
        Click the link below to {verb} your {thing} now.
        Do not miss our {season} sale on {things}!
        Win a {good} {thing} by answering {count} short questions.
        Dear customer, your order of {count} {things} has been sent.
        Final notice: confirm your details before {day} to keep your {thing}.
        Call our {role} now and save {n} dollars on {stuff}!
        Only {n} {things} left at this price, so hurry!
        Reply STOP if you no longer want news about {things}.
        """
    ),
    "personal": lines(
        """
        I felt {feeling} when the {role} {verbed} the {thing}.
        My {family} and I spent {duration} {place}, {verbing} {things}.
        When I was young, my {family} {verbed} {things} every {season}.
        I miss the {stuff} and the {trait} {things} {place}.
        I keep thinking about the {thing} we {verbed} in {city}.
        My {family} is afraid of {things}, so we stay away.
        To be honest, I do not care about {things}.
        I never thought I would {verb} a {thing}, but here we are.
        It surprised me that the {role} {place} knew my {family}.
        We were {feeling} and a little {feeling} at the same time.
        Nothing makes my {family} as {feeling} as a {trait} {thing}.
        I love {things}, but my {family} prefers {things}.
        """
    ),
    "note": lines(
        """
        {things}, {things} and some {stuff}.
        No {stuff} until {day}, sorry.
        More {trait} {things} {place}.
        Back at {clock}; ask the {role}.
        Meeting about the {thing} moved to {day}.
        Lost {place}: one {colour} {item}.
        To do: {verb} the {thing}, call the {role}, buy {stuff}.
        Found: a {colour} {item} {place}.
        Thank you for the {thing}.
        See you {place} at {clock}.
        """
    ),
}
