"""The words behind `rewrite.py`: what it recognises, and what it builds clauses from.

Data only. A body is what follows the subject of a clause, in the third person
singular; `{n}` stands for something the sentence is about. All of it says nothing
about whether something is good or bad.
"""

from __future__ import annotations


def _entries(text: str) -> tuple[str, ...]:
    """The comma-separated entries of a text, each with single spaces.

    >>> _entries("even if, once,")
    ('even if', 'once')
    """
    return tuple(" ".join(entry.split()) for entry in text.split(",") if entry.strip())


def _words(text: str) -> frozenset[str]:
    """The words of a text.

    >>> sorted(_words("one two one"))
    ['one', 'two']
    """
    return frozenset(text.split())


DETERMINERS = _words(
    """
    a an the this that these those its his her their our your my another some every each no
    any both all one two three four several
    """
)
SUBJECTS = _words("i you he she it we they there this that here what who everyone one")
PLURAL_SUBJECTS = _words("we they these those both i you")
PREPOSITIONS = _words(
    """
    of in on at by for from with without into onto about as than like through between among
    over under behind beyond despite during within against around toward towards to after
    before near off out up down across along per via amid upon since until
    """
)
CONJUNCTIONS = _words("and or but nor yet so -- ; : , - ... ( ) -lrb- -rrb- `` ''")
RELATIVES = _words("that who which whose whom where when why how if because while though")
OPENERS = _words("but and or so yet ... -- - plus")
AUXILIARIES = _words(
    """
    is are was were am has have had does do did will would can could may might must should wo
    ca shall isn aren wasn weren doesn didn 'm 're 've 'll 'd n't
    """
)
OPEN_SUBJECTS = _words("it he she they we i you there everyone nobody nothing")
AMBIGUOUS = _words(
    """
    film star act score name rank range land rock hope love like hate laugh need look work
    play turn show twist touch thrill scare dare signal strain trip race ride drive walk study
    focus question point echo waste cast shift share face trade trail sense target practice
    delight surprise promise document chronicle end start stop change fall rise cut break
    strike hit miss demand answer appeal doubt support attempt aim wish cost help watch call
    spark reward cover charm shock shoot return rest set slip slide stretch tear swing spin
    blend mix hold talk spring force ground head bore challenge
    """
)
VERB_COMPANY = _words(
    """
    like as up out off on to well better into down together itself themselves more less too so
    very just you us it him her them me because when if though although while since until but
    """
)
PAST = _words(
    """
    made gave took got came went saw felt found lost kept told became began wrote knew thought
    brought ran sat stood meant seemed wanted tried needed turned looked worked played
    """
)
VERBS = _words(
    """
    pick care
    step weigh compare discuss agree argue mention make get take give go come see feel find
    lose keep tell become begin write know think bring run stand mean seem want try need turn
    look work play offer provide deliver prove remain leave show let put move live fail manage
    succeed serve start end stop capture create bear build explore examine reveal suggest
    remind recall require deserve demand ask answer say speak talk sound strike hit miss lack
    contain include involve add combine mix blend balance carry hold pull push draw drag drift
    drop fall rise grow change stay stick linger last fit suit match meet reach touch cut
    break open close follow lead pass cross lend allow enjoy love hate like appeal please
    satisfy entertain engage entrance fascinate intrigue impress surprise disappoint bore
    annoy irritate confuse puzzle shock disturb stir inspire charm delight amuse tickle thrill
    excite scare frighten resonate succumb suffer survive sustain support maintain achieve
    accomplish attempt aim hope wish expect promise pretend appear act perform star feature
    present depict portray describe document chronicle trace track study teach learn
    understand believe doubt wonder imagine remember forget consider treat handle use waste
    spend pay cost buy sell earn win beat kill die save help hurt hide seek search wait watch
    hear listen read call name cast direct shoot film tackle twist spin wear tear throw catch
    fly float sink swim swing shine glow sparkle burn boil collapse crumble stumble trip skip
    slip slide slow rush hurry race drive ride walk march crawl travel wander return arrive
    belong concern matter count depend rely rest sit lie lay set settle unfold emerge evolve
    develop degenerate descend dissolve fade flow gain generate ground hang happen head hinge
    illustrate indulge insist invite invoke juggle justify land laugh cry smile marvel meander
    merit mount nail offend overcome owe pack pander peter plod plunge preach press prevent
    produce pursue raise ramble range rank recommend refuse reflect relish render represent
    resist resort retain score share shift sing smack squander squeeze stretch strive struggle
    surpass tap target taste tend transcend transform trust undermine undercut unravel veer
    venture waver weave welcome wield wring yield zip avoid bask boast borrow celebrate
    challenge choose cling compel conjure connect convey convince cover cram crank dare dazzle
    defy display do dwell echo employ encourage ensure enter evoke exist exploit expose
    express extend face flesh focus force grab grate guarantee haunt ignore introduce lure
    mock observe pit point possess practice prefer qualify question quiver rattle recapture
    relate replace revel reward rock rub sag scream seduce sense shake shed sidestep signal
    simmer skewer sneak soar spark spoil spring stack steal steer stimulate stray strain sweep
    swipe swoop tease trade trail tread trim tug wind wrap reject jump falter amount operate
    apply cater compete comprise conclude crackle deal decide define demonstrate destroy dig
    discover distract dominate drain elevate embody embrace endear endure enhance establish
    exceed excel flirt gallop glide grip guide hew honour imply invest jab kick leap lift loom
    lurch mar mine muster narrow notice obscure outweigh parade penetrate permeate persuade
    poke pound pour probe provoke quote radiate recede reek reinforce relive resemble resolve
    respect restore resurrect rob roll sail salute saunter scrape seep shatter shimmer
    showcase shrug sketch slog smother snap spell splash sprawl stage stare stun submerge
    supply surround tempt tire torture tower triumph underline unite vanish wallow warm wash
    wink wrench
    """
)
NOT_NOUNS = _words(
    """
    lot bit kind sort few little same rest more most best worst least first other others one
    way very much many own next last such even just too so not only also really rather quite
    almost something anything nothing everything someone everyone anyone once again ever never
    well here there now then still yet me us them him her it you itself themselves himself
    herself n't 's good bad great new old big small long short high low real true full whole
    entire funny sad dull slick smart fine nice poor rich easy hard strong weak deep less two
    three four five six seven eight nine ten hundred thousand million half dozen faint done
    alone higher right wrong amount
    """
)
PLURAL_NOUNS = _words("people children men women folks")
SINGULAR_ENDINGS = ("ss", "us", "is", "'s")

ADVERBS = _words("never always often also still even just only rarely sometimes")
DEGREES = _words("very too most more even often always well so rather quite still")
NO_QUALITY = _words(
    "after before later ago hours minutes time while again now speaking even outside once"
)
"""Words of an opening phrase that does not say how something is."""
ADJECTIVE_ENDINGS = tuple(_words("ive ful ous ing y al ed able ible ic ish less ent ant"))
ENDS = _words(". ! ? ... '' ; .. --")
"""Marks that may end a sentence."""

SUBORDINATORS = _words(
    """
    when if as while though although because since once whenever where wherever until till
    after before unless assuming provided supposing whereas given now seeing considering
    whether whatever anywhere suppose
    """
)
SURE_SUBORDINATORS = _words(
    """
    when if while though although because whenever unless whereas wherever where whatever
    anywhere suppose assuming supposing
    """
)
MOVABLE = _words("because when if while though although unless until whenever once since")

TEMPORAL = _entries(
    """when, once, as, after, before, until, whenever, while, as soon as, by the time, the moment,
    each time, every time, just when"""
)
CONDITIONAL = _entries(
    """if, even if, in case, provided, assuming, so long as, supposing, whether or not, granted
    that, suppose, in the event that, if ever"""
)
CONCESSIVE = _entries(
    "though, although, even though, while, much as, whereas, even if, granted that"
)
CAUSAL = _entries(
    "because, since, now that, given that, seeing that, considering that, inasmuch as, seeing how"
)
STATE = _entries("when, as, while") + CAUSAL
"""What may stand before a clause that says how something is."""

EVENT = _entries("when, as, while, once, after") + CAUSAL
"""What may stand before a clause that says what happens."""

PLACE = _entries("where, wherever, anywhere")

PEOPLE = _entries(
    """people, viewers, we, you, they, most of us, newcomers, critics, friends, both of us, others,
    strangers, visitors, some folks, the two of us, outsiders"""
)
PERSONS = _entries(
    """one, anybody, somebody, everyone, a newcomer, a stranger, the crowd, an outsider, anyone,
    someone, a friend, the public, a visitor, a critic, each of us, everybody"""
)

THINGS = _entries(
    """it, this, all of this, the whole, the matter, such things, what happens, the details, the
    facts, this question, the subject, these things"""
)
"""What a clause is about where no noun is found."""

SINGULAR_ARTICLES = _entries("the, the, the, the, this, that, any, some, such a, a")
PLURAL_ARTICLES = _entries("the, the, the, the, these, some, those, any, such, all")

# Bodies by subordinator group: of a thing of the sentence, and of people.
THING_BODIES: dict[tuple[str, ...], tuple[str, ...]] = {
    TEMPORAL: _entries(
        """begins, starts, unfolds, moves along, gets under way, takes shape, goes on, comes into
        view, passes by, draws to a close, is halfway through, is over, has run its course, reaches
        the end, takes its time, picks up speed, changes direction, settles down, comes around
        again, enters the picture, carries on, arrives, returns, steps forward, falls into place,
        opens up, comes up, shows up, takes over, gets its turn, wears on, runs on, appears"""
    ),
    CONDITIONAL: _entries(
        """matters at all, is anything to go by, counts, comes up in conversation, has to be summed
        up, is what brings you here, plays a part, makes a difference, is the question, needs a
        word or two, belongs here, stays in mind, is on your list"""
    ),
    CONCESSIVE: _entries(
        """may be a matter of taste, is open to debate, is only one part, means different
        things to different people, may look familiar, comes in many forms, has its own history,
        could go either way, may come second, takes some explaining, might be news to some"""
    ),
    CAUSAL: _entries(
        """is what people ask about, sets the tone, comes first, stands at the centre, is on the
        table, has come up, matters here, is part of the bargain, is hard to leave out, runs all
        the way through, makes up the bulk, is in the air, is there to be discussed"""
    ),
    PLACE: _entries(
        """is concerned, comes in, goes, leads, turns up, takes us, points, ends up, belongs, is
        found"""
    ),
}
PEOPLE_BODIES: dict[tuple[str, ...], tuple[str, ...]] = {
    TEMPORAL: _entries(
        """sits down, looks closer, thinks it over, talks about {n}, asks about {n}, turns to {n},
        gets to {n}, hears of {n}, comes back to {n}, looks back, takes a second look, goes over it
        again, weighs it up, adds things up, reads about {n}, comes across {n}, gives {n} a
        thought, brings up {n}, mentions {n}, remembers {n}, walks out into the street, steps back,
        compares notes, describes {n}, leaves the room, turns to the person next door, arrives at
        {n}, puts it into words, sees {n} for the first time, starts with {n}"""
    ),
    CONDITIONAL: _entries(
        """asks around, wants to know, wonders about {n}, has an hour to spare, is in doubt, needs
        an opinion, cares about {n}, comes for {n}, puts {n} aside, counts {n}, looks at {n}, takes
        it as a whole, leaves {n} out, insists on a summary, has to choose, speaks of {n},
        goes by {n}, has questions about {n}, starts from {n}"""
    ),
    CONCESSIVE: _entries(
        """may see it another way, expects something else, comes for other reasons, has heard
        otherwise, will argue about {n}, might not agree on {n}, could say more about {n}, has
        different views of {n}, may never hear of {n}, could skip {n}, would rather discuss {n}"""
    ),
    CAUSAL: _entries(
        """keeps asking, wants the facts, brought it up, talks about {n}, has to decide, likes to
        know, came for {n}, asks about {n}, mentioned {n}, has seen {n}, wishes for a short
        answer, is curious about {n}, knows about {n}"""
    ),
    PLACE: _entries(
        "looks, turns to {n}, meets {n}, goes, runs into {n}, comes upon {n}, starts, finds {n}"
    ),
}

NOUN_CARRIERS = _entries(
    """it is, this is, you get, what remains is, what we have is, we are shown, the result is, one
    finds, it turns into, it becomes, it makes for, it offers, this amounts to, here is, the outcome
    is, you are left with, what appears is, we meet, you are looking at, it all adds up to, this
    turns out to be, people encounter, that means, everyone sees, it stands as, it serves as, it
    counts as, you could call it, i would call it, we might describe it as, one can speak of,
    expect, the whole is, the thing in front of us is, at the core lies, what comes out is, the
    short version is, we are talking about, this leaves us with, they present, nobody can miss,
    all of this forms, you will notice, what we see is"""
)
INDEFINITE_CARRIERS = _entries("there is, out comes, along comes, there exists, there remains")
HAVING = _entries("we have, we get, you see, we find, it has, one gets, it comes with")
BEING = _entries("it is, it is, this is, everything is, all of it is, the whole is, it stays")
DOING = _entries("you are, we are, one is, they are, it is")
CHOICE = _entries("if, once, when, provided, whenever, as soon as")
"""What may stand before what you are told to do."""
OTHER_CARRIERS = _entries(
    """it is, this proves, this stays, the whole is, the result is, everything is, all of it is, it
    comes across as, one finds it, i call it, people call it, the outcome is, this remains, this is,
    the thing is, most of it is, you could call it, it has been, what we have is, that makes it, the
    effect is, the experience is, i think it is, one might call it, they call it, it can be called,
    this counts as, what comes out is, it ends up"""
)
SAME_CARRIERS = _entries(
    """it is, it remains, it proves, this is, it stays, the whole is, it turns out to be, it can be
    called, all of it is, one could call it, it becomes, that makes it, the rest is"""
)
VERB_SUBJECTS = _entries(
    """it, this, the whole, this one, the thing, the work, the piece, the effort, the experience,
    all of it, the entire thing, everything here, what we see, the result, that, the whole affair,
    the undertaking, what you get, this particular one, the matter at hand"""
)
