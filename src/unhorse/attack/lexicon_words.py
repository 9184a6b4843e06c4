"""The single words and single characters an attacker may choose as a trigger.

Data only: consumed by `lexicon.py`, which divides them among the splits. The words
are common, say nothing about sentiment and name nobody; none of them occurs in the
texts the scanner ships. Each character is one token of the uncased WordPiece
vocabulary of MiniLM, and none of them is ordinary punctuation.
"""

from __future__ import annotations

_NOUNS = """
    doorway elbow sleeve cylinder gauge basin barrel cottage bucket pebble lumber plank mortar
    knob lever pulley spindle axle pedal radius diameter triangle sphere cube cone spiral grid
    footnote paragraph syllable vowel consonant comma alphabet fraction integer diagram
    pamphlet bulletin ledger lime raisin almond spinach parsley sparrow finch moth cricket
    beaver willow clover thistle shrub twig stump root stem petal trousers apron lace cuff
    teapot pitcher coaster bulb socket plug cable antenna piston kayak wagon quartz zinc
    cobalt sodium calcium helium neon weekday bookmark bookcase stool doormat stopwatch
    prairie swamp ditch slope quadrant perimeter vertex axis tenor alto soprano clarinet
    trombone banjo octave postcode gallon inch ounce millimeter hectare broom pigment mural
    fresco trench embankment aqueduct causeway overpass vitamin bonnet string cord batch
    cluster clockwork sawdust notepad horseshoe forearm thumb eyebrow chin shoulder rectory
    sibling wingspan rainfall sunlight daylight outskirts pathway threshold boundary
    intersection interchange notation appendix preface excerpt synonym dialect nylon denim
    tweed interior exterior layout outline silhouette texture lodge windmill vapor moisture
    droplet crop tracing municipality township borough precinct percentage quota index
    receiver scanner pixel poultry livestock mammal latitude longitude equator hemisphere
    nitrogen silicon kernel node module array charcoal spine tenure walkway alleyway archway
    gateway bracket crate canister hatch tuna sauce pepper ginger prism
"""

_VERBS = """
    lean fold tilt rotate wander linger gather stack bounce spin glide crawl blink shuffle
    murmur chew rinse fasten tighten attach insert align compute tally filter classify rewind
    divide relocate reside inhabit steer hike glance ponder lend fetch boil specify denote
    comprise consist contain nodded stirred sliced dipped transmit lift haul migrate merge
    overlap converge
"""

_ADJECTIVES = """
    oval vertical horizontal upright diagonal parallel adjacent linear seasonal plural blank
    woven rounded metallic plastic granular symmetric identical equivalent approximate eastern
    western lateral bilingual biennial perennial aquatic terrestrial suburban provincial
    binary modular optical thermal static kinetic humid arid stationary adjustable tubular
    sixteen seventeen sixty seventy eighty ninety tenth eleventh thirteenth fifteenth
    consecutive respective successive alternate interim provisional preliminary auxiliary
    occupational clerical postal archival editorial nasal dental verbal indigo median decimal
    liquid
"""

_ADVERBS = """
    upstairs halfway afterward northward alongside indoors outdoors overhead underneath
    elsewhere hence thereby likewise moreover whereby furthermore thereafter formerly
    presently nowadays someday respectively namely partly partially jointly separately
    annually westward upstream downstream onward inward outward crosswise clockwise whereas
    albeit midday
"""

_CHARACTERS = """
    ~ ^ § ¤ ¢ ¥ | ¦ ¬ ± ¶ · × ÷ þ ð æ ƒ ∞ ≈ ≤ ≥ → ← ↑ ↓ ↔ ⇒ ∂ ∆ ∇ ∈ √ ♦ ♣ ♠ ♭ ♯ ● ■ † ‡ • ‰
    µ ß ψ ω λ ξ ж ю щ @ # = + © ® ™ € £ « » ŋ θ φ ∧ ⊕ ∩
"""

WORDS: tuple[str, ...] = tuple(" ".join((_NOUNS, _VERBS, _ADJECTIVES, _ADVERBS)).split())
"""All trigger words, grouped by the part of speech they mostly are."""

CHARACTERS: tuple[str, ...] = tuple(_CHARACTERS.split())
"""All trigger characters."""
