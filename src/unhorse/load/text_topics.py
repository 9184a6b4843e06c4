"""What unhorse's own texts are about: one table of words and sentences per topic.

Within a topic every verb makes sense with every thing, and every trait can be
said of one, so that any combination reads as English. Verbs are regular and
transitive, things are countable, stuff is not.
"""

from __future__ import annotations

from unhorse.load.text_words import gerund, lines, listed, past, plural, third_person


def _topic(
    roles: str, things: str, stuff: str, verbs: str, traits: str, places: str, sentences: str
) -> dict[str, tuple[str, ...]]:
    """The slot table of one topic, with the word forms that patterns ask for."""
    people, objects, actions = listed(roles), listed(things), listed(verbs)
    return {
        "role": people,
        "roles": tuple(plural(word) for word in people),
        "thing": objects,
        "things": tuple(plural(word) for word in objects),
        "stuff": listed(stuff),
        "verb": actions,
        "verbs": tuple(third_person(word) for word in actions),
        "verbed": tuple(past(word) for word in actions),
        "verbing": tuple(gerund(word) for word in actions),
        "trait": listed(traits),
        "place": listed(places),
        "own": lines(sentences),
    }


TOPICS: tuple[dict[str, tuple[str, ...]], ...] = (
    _topic(  # weather
        roles="""forecaster, meteorologist, hiker, commuter, caretaker, lifeguard, observer,
            lighthouse keeper, rambler, presenter""",
        things="""storm, cloud, breeze, shower, rainbow, forecast, puddle, snowflake, icicle,
            thunderclap, gust, drought, heatwave, blizzard, fog bank, hailstone, sunrise, sunset,
            cold front, downpour, tornado, raindrop, snowdrift, hurricane, flood, lightning flash,
            temperature record, whirlwind, overcast sky, frosty night""",
        stuff="rain, snow, sunshine, fog, humidity, thunder, ice, hail, sleet, drizzle, mist",
        verbs="""watch, track, photograph, record, notice, report, mention, measure, follow,
            predict, describe, remember""",
        traits="""sudden, mild, severe, distant, brief, heavy, gentle, unusual, dramatic, faint,
            persistent, fierce, windy, gloomy""",
        places="""over the hills, along the coast, above the valley, near the lake, across the
            county, outside the window, beyond the ridge, above the rooftops""",
        sentences="""
            It rained for {duration}, and then the sun came out.
            The wind dropped at {clock}, and the sky turned {colour}.
            Take an umbrella, because showers are likely {place} on {day}.
            The roads were icy {when}, so most people walked.
            Temperatures should reach {n} degrees by {day}, with light winds from the west.
            Will it snow in {city} this {season}?
            We sat by the window and listened to the thunder roll away.
            """,
    ),
    _topic(  # travel
        roles="""traveller, tourist, guide, receptionist, passenger, flight attendant, hotel
            manager, backpacker, travel agent, porter, customs officer, interpreter""",
        things="""suitcase, passport, boarding pass, guidebook, postcard, itinerary, hotel room,
            hostel, airport shuttle, window seat, souvenir, visa, travel adapter, city map, cruise,
            excursion, villa, campsite, caravan, lounge, rucksack, layover, phrasebook, beach towel,
            walking tour, sleeper cabin, bed and breakfast, stopover, reservation, landmark""",
        stuff="luggage, sightseeing, jet lag, legroom, hospitality, room service, scenery",
        verbs="""reserve, compare, recommend, cancel, inspect, review, describe, check, request,
            share, organise, confirm""",
        traits="""cheap, spacious, crowded, foreign, popular, remote, coastal, luxurious, cramped,
            scenic, inexpensive, historic, overbooked""",
        places="""at the airport, near the old town, at the border, by the beach, in a quiet side
            street, at the departure gate, across from the museum, on the other side of the
            island""",
        sentences="""
            Our flight to {city} was delayed by {duration}.
            The room had a view of the harbour and a very small sink.
            We missed the last bus and walked back along the canal.
            Breakfast is served from {clock} on the terrace.
            How far is it from the airport to the centre of {city}?
            They lost my suitcase in {city} and found it {duration} later.
            The check-in queue was long, but the staff kept everyone informed.
            """,
    ),
    _topic(  # office work
        roles="""manager, accountant, secretary, intern, supervisor, consultant, director,
            recruiter, team leader, trainee, clerk, executive, assistant, project manager""",
        things="""deadline, spreadsheet, memo, meeting, presentation, contract, invoice, proposal,
            agenda, timesheet, promotion, desk, stapler, whiteboard, briefing, workshop, email,
            appraisal, budget plan, job description, handover, printout, sick note, calendar entry,
            conference call, status report, filing cabinet, staff survey, job interview""",
        stuff="paperwork, overtime, feedback, teamwork, office space, stationery, training, morale",
        verbs="""schedule, postpone, prepare, discuss, approve, submit, organise, revise, review,
            circulate, finalise, summarise""",
        traits="""urgent, weekly, lengthy, optional, internal, confidential, productive, formal,
            last-minute, joint, quarterly, mandatory""",
        places="""on the third floor, in the conference room, at head office, by the photocopier, in
            the canteen, at the front desk, down the corridor, in the shared folder""",
        sentences="""
            Can we move the meeting to {day} at {clock}?
            The minutes are attached; please read them before {day}.
            She handed in her notice after {duration} with the company.
            The new rota leaves us one person short on {day}.
            I will be out of the office until {day} and will answer then.
            The client liked the draft, apart from the last two pages.
            Our team hit every target this quarter without working late.
            """,
    ),
    _topic(  # cooking and eating out
        roles="""chef, baker, waiter, cook, butcher, dishwasher, barista, grocer, food critic, host,
            pastry cook, cheesemonger, customer, diner""",
        things="""loaf, omelette, soup, salad, pancake, casserole, pizza, sandwich, curry, pie,
            muffin, dumpling, burger, lasagne, tart, stew, sausage, noodle dish, potato, tomato,
            mushroom, onion, biscuit, apple cake, cheese platter, fish finger, roast chicken, rice
            pudding, mango, lentil burger, peach cobbler, spring roll, baked egg""",
        stuff="""butter, garlic, olive oil, cinnamon, rice, flour, gravy, coffee, bread, honey,
            mustard""",
        verbs="""cook, taste, serve, order, season, prepare, devour, share, garnish, finish, sample,
            reheat""",
        traits="""spicy, salty, crispy, delicious, lukewarm, creamy, stale, savoury, greasy, sweet,
            juicy, homemade, burnt, tender, vegetarian""",
        places="""in the kitchen, at the counter, on the stove, at the corner table, in the dining
            room, at the food market, beside the oven, on the terrace""",
        sentences="""
            Add a pinch of salt and let it simmer for {duration}.
            The soup was cold when it reached our table.
            We ordered the fish, and the portions were generous.
            Whisk the eggs with the sugar until the mixture is pale.
            Is the curry very hot, or can my {family} try it?
            The waiter remembered our names and brought us a free dessert.
            Coffee was fine, but the cake tasted of nothing in particular.
            """,
    ),
    _topic(  # science
        roles="""researcher, chemist, biologist, physicist, laboratory technician, professor,
            statistician, geologist, postdoc, botanist, microbiologist, reviewer, ecologist""",
        things="""experiment, microscope, molecule, hypothesis, measurement, sample, equation,
            enzyme, protein, crystal, telescope image, theory, isotope, test tube, fossil, cell
            culture, dataset, magnet, gene, neuron, catalyst, mineral, particle, control group,
            reaction, polymer, genome, laser, prototype, volcano, electron beam""",
        stuff="evidence, oxygen, carbon, radiation, gravity, hydrogen, energy, funding, entropy",
        verbs="""analyse, observe, examine, test, study, measure, model, document, simulate,
            question, investigate, describe""",
        traits="""stable, complex, precise, microscopic, organic, theoretical, magnetic, rare,
            experimental, reproducible, soluble, significant, hypothetical""",
        places="""in the laboratory, at the institute, under the microscope, in the clean room, in a
            recent paper, at the field station, in the control experiment""",
        sentences="""
            The results did not differ significantly between the two groups.
            Water boils at a lower temperature at high altitude.
            The paper was published in {month} after {duration} of review.
            Cells were kept at {n} degrees for {duration}.
            Why do some metals rust while others do not?
            The sensor drifted, so the measurements had to be repeated.
            Against all expectations, the second trial confirmed the first.
            """,
    ),
    _topic(  # sport
        roles="""goalkeeper, coach, referee, striker, swimmer, runner, cyclist, umpire, captain,
            gymnast, rower, defender, sprinter, spectator, midfielder, skier, wrestler, archer""",
        things="""match, penalty, goal, trophy, tournament, race, medal, final, stadium, season
            opener, free kick, relay, marathon, training session, tackle, scoreboard, comeback,
            friendly, title, rematch, serve, warm-up, semi-final, league table, medal ceremony, home
            run, sprint, hurdle, half-time talk, playoff""",
        stuff="stamina, fitness, possession, defending, team spirit, extra time, practice, luck",
        verbs="""watch, celebrate, analyse, dominate, film, remember, discuss, enjoy, replay,
            follow, deserve, cover""",
        traits="""thrilling, close, tense, one-sided, crucial, goalless, historic, scrappy, fast,
            decisive, exhausting, hard-fought, controversial""",
        places="""on the pitch, in the stands, at the arena, on the home straight, in front of a
            full house, at the finish line, in the changing room, on the touchline""",
        sentences="""
            {city} beat {city} by {count} points on {day}.
            The home side lost again, though they played well after the break.
            He finished third, only two seconds behind the winner.
            The match was called off because the pitch was under water.
            Who is going to play in goal on {day}?
            She ran the last lap alone, to loud applause.
            The coach said the team had not trained hard enough.
            """,
    ),
    _topic(  # technology
        roles="""developer, programmer, system administrator, tester, data scientist, user, hardware
            engineer, support agent, web designer, security analyst, blogger, gamer""",
        things="""laptop, smartphone, app, password, browser, server, keyboard, update, charger,
            database, website, router, backup, algorithm, tablet, headset, firewall, login page, bug
            report, touchscreen, webcam, memory card, operating system, chatbot, printer, drone,
            pull request, user interface, smartwatch, search engine, graphics card, software
            patch""",
        stuff="software, battery life, storage, bandwidth, malware, source code, encryption, data",
        verbs="""install, test, upgrade, configure, restore, replace, debug, connect, design,
            review, unlock, monitor, disable""",
        traits="""wireless, slow, outdated, encrypted, compatible, lightweight, glitchy, secure,
            open-source, portable, responsive, foldable, experimental, user-friendly""",
        places="""in the data centre, on the home screen, in the cloud, on the company network, at
            the help desk, in the latest release, on the second monitor""",
        sentences="""
            The screen goes black whenever I open the camera.
            Restart the device and try again in {duration}.
            The battery lasts {duration}, which is more than I need.
            The company will release its next phone in {month}.
            How do I turn off the notifications?
            The update fixed the crash but moved all the buttons.
            Setting it up took {duration}, and it has worked ever since.
            """,
    ),
    _topic(  # shopping
        roles="""shop assistant, cashier, shopper, delivery driver, tailor, seller, bargain hunter,
            courier, florist, stallholder, store manager, buyer, window dresser""",
        things="""jacket, receipt, voucher, parcel, sandal, discount, handbag, gift card, shopping
            bag, sweater, price tag, lamp, mattress, blender, raincoat, refund, trolley, cardigan,
            toaster, kettle, sofa, curtain, duvet, necklace, perfume bottle, candle, belt, display
            cabinet, bath mat, coupon, hair dryer, alarm clock, picture frame""",
        stuff="packaging, jewellery, shampoo, leather, fabric, cutlery, customer service, postage",
        verbs="""purchase, order, return, wrap, exchange, deliver, recommend, unpack, examine,
            display, compare, review""",
        traits="""expensive, affordable, stylish, durable, secondhand, scratched, oversized, cosy,
            waterproof, trendy, handmade, fragile, washable""",
        places="""at the checkout, in the shopping centre, on the top shelf, at the market stall, in
            the fitting room, in the sale, at the customer desk, by the escalator""",
        sentences="""
            The parcel came {duration} early and was neatly wrapped.
            The zip broke after {duration}, and the shop would not exchange it.
            It fits well, although the colour is darker than in the picture.
            Do you have this in a smaller size?
            I paid {n} dollars and would gladly pay it again.
            The box was empty when it arrived, and no one answers my emails.
            They close at {clock}, so we should leave now.
            """,
    ),
    _topic(  # finance and business
        roles="""banker, investor, trader, economist, treasurer, auditor, shareholder, broker,
            analyst, lender, tax adviser, chief executive, entrepreneur, insurer, pensioner""",
        things="""loan, mortgage, savings account, share, dividend, interest rate, merger, pension,
            tax return, insurance policy, bond, takeover bid, credit card, bank statement, invoice,
            overdraft, investment fund, annual report, pay rise, trade deal, currency, stock option,
            balance sheet, tariff, audit, startup, bankruptcy filing, profit forecast, subsidy""",
        stuff="inflation, revenue, debt, capital, cash, credit, growth, turnover, unemployment",
        verbs="""assess, monitor, approve, discuss, audit, calculate, review, announce, negotiate,
            criticise, compare, revalue""",
        traits="""profitable, risky, long-term, unpaid, fixed, volatile, corporate, unsecured,
            lucrative, overdue, modest, overvalued""",
        places="""on the stock exchange, at the central bank, in the annual accounts, on the balance
            sheet, in emerging markets, at the branch, on the trading floor""",
        sentences="""
            Shares in the company closed {n} cents lower on {day}.
            Profits rose by {n} percent in the year to {month}.
            The bank charged me {n} dollars for a payment I never made.
            Should I pay off the loan early or keep the savings?
            The firm said it would close {count} branches by {month}.
            Sales were flat, and the outlook for {season} was cut again.
            We paid the last instalment {when} and own the house now.
            """,
    ),
    _topic(  # home and repairs
        roles="""plumber, electrician, carpenter, landlord, tenant, decorator, roofer, cleaner,
            housemate, handyman, locksmith, estate agent, bricklayer, lodger""",
        things="""tap, radiator, light switch, door handle, bookshelf, wardrobe, window frame, sink,
            ceiling, staircase, carpet, drawer, washing machine, boiler, floorboard, gutter, fence,
            bathroom tile, hinge, chimney, cupboard, fuse box, shower head, garage door, loft
            ladder, skirting board, doorbell, letter box, balcony rail, garden shed, dishwasher,
            armchair""",
        stuff="""paint, plaster, wallpaper, dust, insulation, varnish, hot water, mould, plywood,
            glue""",
        verbs="""repair, paint, replace, clean, install, inspect, dismantle, adjust, polish, sand,
            scrub, fix""",
        traits="""leaky, broken, rusty, squeaky, sturdy, wooden, spotless, crooked, dusty, loose,
            freshly painted, draughty, antique""",
        places="""in the hallway, under the stairs, in the attic, next to the bathroom, on the
            landing, in the basement, above the fireplace, behind the washing machine""",
        sentences="""
            The heating stopped working {when}, and the flat is cold.
            The plumber came at {clock} and was done in {duration}.
            We painted the hallway {colour} and the doors white.
            Water is dripping through the ceiling again.
            Is the flat on the ground floor still free?
            The rent includes heating but not electricity.
            The neighbours moved out {when}, and it is quiet now.
            """,
    ),
    _topic(  # health
        roles="""nurse, doctor, surgeon, dentist, patient, pharmacist, midwife, physiotherapist,
            paramedic, optician, psychologist, carer, dietician, ward sister, vaccinator""",
        things="""appointment, prescription, bandage, tablet, x-ray, blood test, vaccine, headache,
            fever, allergy, operation, wheelchair, hearing aid, thermometer reading, symptom,
            check-up, sore throat, stethoscope, treatment, side effect, ambulance call, tooth, scan,
            waiting list, broken wrist, muscle cramp, infection, blood sample, rash, sprained
            ankle""",
        stuff="""medicine, sleep, exercise, anxiety, cough syrup, recovery, nutrition, blood
            pressure""",
        verbs="""examine, check, describe, document, monitor, discuss, explain, mention, assess,
            record, ignore, report""",
        traits="""painful, routine, chronic, harmless, minor, serious, swollen, preventable,
            overdue, contagious, temporary, persistent, medical""",
        places="""at the clinic, in the waiting room, on the ward, in the emergency department, at
            the pharmacy, in the operating theatre, at the surgery, beside the hospital bed""",
        sentences="""
            Take one tablet twice a day after meals.
            The nurse explained everything and the wound healed within {duration}.
            I waited {duration} to be seen and was sent home with nothing.
            My knee still hurts when I climb the stairs.
            How many hours of sleep does a child need?
            The test came back negative, so she can travel on {day}.
            Cases of flu rose in {month}, doctors in {city} said.
            """,
    ),
    _topic(  # school and university
        roles="""teacher, pupil, student, headteacher, lecturer, tutor, librarian, examiner,
            graduate, substitute teacher, dean, prefect, school inspector, freshman""",
        things="""lesson, exam, essay, textbook, classroom, homework task, timetable, lecture,
            dissertation, scholarship, quiz, diploma, school trip, grade, seminar, playground,
            spelling test, blackboard, handout, term paper, exercise book, assembly, degree course,
            school report, library card, entrance test, algebra problem, geography project""",
        stuff="homework, grammar, arithmetic, coursework, chalk, tuition, detention, literacy",
        verbs="""explain, finish, prepare, discuss, correct, mark, present, review, complete,
            assign, criticise, praise""",
        traits="""difficult, compulsory, unfinished, elementary, oral, annual, well-written,
            exhausting, short, advanced, multiple-choice, illegible""",
        places="""in the back row, at the secondary school, on campus, in the lecture hall, in the
            staff room, at the blackboard, during the lunch break, in the reading room""",
        sentences="""
            The exam starts at {clock} and lasts {duration}.
            He failed the test by two points and will sit it again in {month}.
            Every pupil reads one book a {period}.
            The lecture was hard to follow, but the handout helped.
            When is the essay due?
            Her daughter got the highest mark in the year.
            The school in {city} will have {count} new classrooms by {month}.
            """,
    ),
    _topic(  # music
        roles="""pianist, singer, violinist, drummer, conductor, composer, guitarist, songwriter,
            cellist, choirmaster, sound engineer, trumpeter, busker, flautist, music critic""",
        things="""song, concert, album, melody, symphony, guitar solo, rehearsal, chorus, lullaby,
            drum kit, piano, violin, playlist, festival, ballad, duet, waltz, encore, opera, hymn,
            remix, sonata, overture, accordion, choir piece, serenade, bass line, jazz standard,
            single, cover version, trumpet fanfare, film score""",
        stuff="applause, rhythm, harmony, jazz, folk music, reverb, feedback, silence, percussion",
        verbs="""perform, record, rehearse, compose, practise, hum, praise, release, play, arrange,
            introduce, stream""",
        traits="""melodic, loud, catchy, acoustic, haunting, upbeat, off-key, solemn, classical,
            rhythmic, instrumental, mournful, lively""",
        places="""on stage, in the concert hall, at the open-air festival, in the studio, at the
            jazz club, in the orchestra pit, on the radio, in the rehearsal room""",
        sentences="""
            The band played for {duration} and came back twice.
            The second half of the album repeats the first.
            Turn the volume down, please, it is past midnight.
            She has played the cello since she was six.
            What is the name of the song that goes with the credits?
            The sound was muddy, and we left before the encore.
            Tickets for the concert in {city} sold out in {duration}.
            """,
    ),
    _topic(  # film, books, stage
        roles="""actor, novelist, film director, playwright, editor, publisher, reader,
            screenwriter, narrator, illustrator, stuntman, translator, comedian, poet, extra,
            costume designer""",
        things="""novel, film, plot, chapter, documentary, sequel, poem, trailer, scene, thriller,
            comedy, biography, script, dialogue, ending, paperback, audiobook, detective story,
            cartoon, series, musical, short story, subtitle, heist story, monologue, fairy tale,
            book review, cliffhanger, villain, chase scene, screenplay, soundtrack""",
        stuff="suspense, humour, drama, fiction, poetry, irony, dialogue, pacing, tension",
        verbs="""review, praise, adapt, criticise, publish, enjoy, watch, edit, quote, discuss,
            direct, finish""",
        traits="""gripping, predictable, touching, funny, clever, shallow, moving, slow-moving,
            witty, bleak, sentimental, original, overlong, heartfelt, clichéd""",
        places="""at the cinema, on the last page, in the opening scene, on television, at the
            theatre, in the second act, at the book fair, in the front row""",
        sentences="""
            The plot is thin, but the acting makes up for it.
            I read it in {duration} and started again at once.
            The middle part drags, and the ending explains too much.
            Two friends drive to {city} and learn little on the way.
            Does the dog survive?
            It is a small film with a big heart.
            The jokes fall flat, and the cast seems tired of them too.
            """,
    ),
    _topic(  # garden and farm
        roles="""gardener, farmer, shepherd, beekeeper, fruit picker, landscaper, nurseryman,
            vintner, agronomist, allotment holder, tractor driver, dairyman""",
        things="""rose, tulip, hedge, greenhouse, vegetable patch, seedling, apple tree, lawn,
            pumpkin, flower bed, wheelbarrow, cabbage, orchard, beehive, scarecrow, tractor,
            sunflower, cactus, hay bale, vineyard, strawberry, carrot, cherry tree, herb pot,
            daffodil, wheat field, raspberry bush, lettuce, hen house, barn, garden hose, bean pole,
            turnip""",
        stuff="compost, soil, fertiliser, hay, barley, manure, lavender, moss, pollen, topsoil",
        verbs="""water, plant, inspect, trim, admire, harvest, cover, move, photograph, protect,
            neglect, label""",
        traits="""green, ripe, fragrant, overgrown, lush, withered, muddy, shady, organic, thorny,
            evergreen, leafy, fertile, weedy""",
        places="""in the garden, behind the barn, by the compost heap, on the allotment, along the
            garden path, in the lower field, next to the pond, at the edge of the orchard""",
        sentences="""
            Slugs ate most of the lettuce {when}.
            Plant the bulbs in {month}, a hand deep and a hand apart.
            The tomatoes ripened early, and there were enough for everyone.
            The harvest was {n} percent smaller than last year.
            How often should I water a lemon tree?
            The roses smell best in the early evening.
            Milk prices fell again, and two farms near {city} were sold.
            """,
    ),
    _topic(  # animals
        roles="""vet, zookeeper, dog walker, breeder, rider, birdwatcher, stable hand, pet owner,
            ranger, kennel maid, falconer, wildlife photographer, zoologist""",
        things="""puppy, kitten, parrot, rabbit, horse, hedgehog, squirrel, goldfish, pony,
            tortoise, owl, fox, hamster, goose, donkey, sheepdog, badger, otter, penguin, elephant,
            giraffe, seal, dolphin, butterfly, beetle, lizard, calf, pigeon, swan, guinea pig,
            mouse, spaniel, kangaroo, wolf cub, woodpecker, bumblebee""",
        stuff="fur, birdseed, straw, dog food, wildlife, barking, plumage, catnip",
        verbs="""groom, watch, adopt, rescue, photograph, follow, weigh, chase, approach, recognise,
            examine""",
        traits="""playful, shy, hungry, tame, furry, wild, sleepy, noisy, obedient, injured,
            nocturnal, mischievous, timid, frisky""",
        places="""at the zoo, in the stable, on the riverbank, in the kennel, at the animal shelter,
            in the hollow tree, under the hedge, in the paddock, at the bird table""",
        sentences="""
            The cat slept on the windowsill for {duration}.
            Our dog is afraid of fireworks and hides under the bed.
            Storks return to the village every {month}.
            The vet was gentle, and the rabbit is eating again.
            Do hedgehogs drink milk?
            The old horse did not get up {when}.
            Keep dogs on a lead between {month} and {month}.
            """,
    ),
    _topic(  # traffic and vehicles
        roles="""bus driver, mechanic, cab driver, motorist, pedestrian, conductor, train guard,
            motorcyclist, lorry driver, traffic warden, ticket inspector, driving instructor""",
        things="""bicycle, train, tram, taxi, traffic jam, ticket machine, timetable, motorbike,
            van, roundabout, tyre, engine, bumper, brake, sports car, parking space, bridge, tunnel,
            railway line, minibus, scooter, ferry, headlight, gearbox, motorway exit, number plate,
            steering wheel, bus stop, level crossing, pothole, seat belt, speed camera,
            windscreen""",
        stuff="petrol, traffic, diesel, road noise, congestion, horsepower, rush hour, legroom",
        verbs="""inspect, check, photograph, avoid, approach, examine, pass, notice, block, test,
            damage, design""",
        traits="""delayed, congested, narrow, electric, dented, punctual, second-hand, steep, noisy,
            overcrowded, rattling, fuel-efficient, flat""",
        places="""on platform four, at the junction, on the motorway, in the car park, at the depot,
            near the roundabout, in the bus lane, outside the railway station""",
        sentences="""
            The train to {city} leaves from platform {n} at {clock}.
            The bus was full, so the driver waved us on.
            A lorry shed its load on the ring road, and traffic was slow for {duration}.
            The car starts at the first turn, even in winter.
            Is there a car park near the station?
            The garage charged {n} dollars and did not fix the noise.
            The bridge will be closed to cars from {month}.
            """,
    ),
    _topic(  # town and politics
        roles="""mayor, councillor, voter, minister, spokesperson, senator, protester, ambassador,
            campaigner, delegate, civil servant, journalist, treaty negotiator, ombudsman""",
        things="""election, bill, budget, petition, referendum, bylaw, coalition, ballot, speech,
            debate, reform, treaty, embassy, press conference, tax cut, housing scheme, planning
            permit, committee, summit, manifesto, parliament vote, motion, sanction, border
            crossing, decree, opinion poll, town plan, constitution, resolution, crisis, ceasefire,
            visa rule""",
        stuff="legislation, democracy, diplomacy, public transport, red tape, housing, opposition",
        verbs="""oppose, support, announce, discuss, criticise, welcome, reject, question, defend,
            endorse, demand, postpone""",
        traits="""controversial, municipal, federal, unpopular, bilateral, regional, democratic,
            public, costly, long-awaited, temporary, unanimous, radical""",
        places="""in parliament, at the town hall, in the capital, at the polling station, outside
            the ministry, in the lower house, at the summit, on the city council""",
        sentences="""
            Voters in {city} go to the polls on {day}.
            The council approved the plan by {n} votes to two.
            Talks between the two countries ended without agreement.
            The minister visited the flooded villages {when}.
            Why has the library been closed for {duration}?
            The new park opened on {day}, and hundreds of people came.
            Critics said the measure would do little for tenants.
            """,
    ),
    _topic(  # museums and history
        roles="""archaeologist, historian, curator, archivist, museum guard, restorer, collector,
            antique dealer, excavator, genealogist, medievalist, visitor""",
        things="""castle, coin, manuscript, statue, ruin, temple, burial mound, exhibition, sword,
            cathedral, monument, mosaic, pyramid, tapestry, shipwreck, vase, inscription, helmet,
            fortress, parchment, family crest, medal, abbey, relic, throne, amphora, wax seal,
            treasure chest, city wall, stone coffin, diary, drawbridge, watchtower""",
        stuff="pottery, archaeology, marble, bronze, heritage, royalty, ivory, folklore, papyrus",
        verbs="""discover, restore, examine, describe, photograph, catalogue, admire, guard, date,
            uncover, display, study""",
        traits="""ancient, medieval, ruined, priceless, ornate, forgotten, Roman, well-preserved,
            mysterious, royal, crumbling, gilded, prehistoric""",
        places="""at the museum, in the crypt, beneath the old church, in the national archive, at
            the excavation site, in the east wing, behind the glass, in a sealed chamber""",
        sentences="""
            The castle was built in the twelfth century and burned down twice.
            Entry is free on the first {day} of the month.
            The labels are too small to read, and half the rooms were shut.
            A farmer near {city} found {count} coins in a field.
            Who built the wall around {city}?
            Our guide told the story so well that the children forgot the cold.
            The war ended in {month}, but the town was never rebuilt.
            """,
    ),
    _topic(  # family and celebrations
        roles="""bride, groom, best man, guest, bridesmaid, babysitter, toddler, wedding planner,
            grandparent, birthday girl, twin, newborn, hostess, magician""",
        things="""wedding, birthday cake, present, invitation, balloon, anniversary, party hat,
            photo album, family reunion, bouquet, picnic, christening, engagement ring, toast, guest
            list, barbecue, greeting card, housewarming, firework, costume, garden party, family
            recipe, baby shower, paper lantern, ribbon, graduation, dance floor, table decoration,
            bonfire""",
        stuff="confetti, laughter, champagne, gossip, lemonade, wrapping paper, nostalgia, glitter",
        verbs="""organise, celebrate, photograph, enjoy, plan, prepare, remember, admire, arrange,
            postpone, attend, film""",
        traits="""festive, joyful, traditional, boisterous, colourful, intimate, lavish, tearful,
            rainy, old-fashioned, unforgettable, chaotic""",
        places="""in the marquee, at the registry office, around the dinner table, in the village
            hall, in the back garden, at the reception, by the bonfire, at my parents' house""",
        sentences="""
            The twins turned seven on {day}.
            My {family} cried during the speeches.
            Nobody danced, and the music stopped at {clock}.
            We are getting married in {month} and would love you to come.
            What should I bring to the party on {day}?
            My {family} has not spoken to my {family} since the wedding.
            The children blew out the candles and asked for more cake.
            """,
    ),
    _topic(  # outdoors
        roles="""climber, camper, forester, mountaineer, scout, trekker, park ranger, kayaker,
            orienteer, angler, mushroom picker, caver, rescue worker""",
        things="""trail, tent, waterfall, mountain hut, campfire, rope, sleeping bag, summit,
            canyon, meadow, glacier, footbridge, forest track, compass, cave, cliff, backpack, river
            bend, signpost, hot spring, gorge, clearing, boulder, viewpoint, lantern, stream,
            walking stick, picnic site, moorland path, oak tree, nature reserve, rope ladder""",
        stuff="firewood, fresh air, mud, bracken, drinking water, wilderness, gravel, pine resin",
        verbs="""explore, photograph, reach, cross, inspect, admire, locate, describe, map, visit,
            pass, miss""",
        traits="""steep, peaceful, rocky, hidden, slippery, wooded, breezy, deserted, winding,
            snowy, untouched, mossy, perilous, sheltered""",
        places="""above the tree line, in the forest, at the foot of the mountain, near the
            waterfall, on the far bank, along the ridge, deep in the gorge, beside the campfire""",
        sentences="""
            We reached the hut at {clock}, wet and hungry.
            The path follows the river for {n} miles and then climbs.
            One of the climbers slipped but was not hurt.
            The view from the top was worth every step.
            Is the trail open in {month}?
            A signpost was missing, and we walked the wrong way for {duration}.
            Rescuers searched the area until {clock} and found no one.
            """,
    ),
    _topic(  # sea
        roles="""sailor, fisherman, captain, diver, harbour master, deckhand, surfer, boatbuilder,
            oceanographer, navigator, shipowner, ferryman, coastguard""",
        things="""sailing boat, anchor, fishing net, wave, harbour, lighthouse, coral reef,
            jellyfish, shark, cargo ship, rudder, mast, submarine, lifeboat, jetty, oar, lobster
            pot, tide pool, shell, whale, trawler, buoy, cabin, paddle, dinghy, porthole, starfish,
            tugboat, yacht, sea chart, beach hut, surfboard, sandbank""",
        stuff="seaweed, salt water, sand, driftwood, foam, plankton, spray, tar, canvas",
        verbs="""spot, photograph, inspect, describe, paint, notice, follow, watch, approach,
            sketch, mention, circle""",
        traits="""majestic, salty, seaworthy, swift, weathered, offshore, graceful, creaky, calm,
            shallow, storm-damaged, motionless""",
        places="""on the quay, below deck, out at sea, at the harbour mouth, on the sandbank, in the
            bay, at low tide, off the southern coast""",
        sentences="""
            The tide turned at {clock}, and we sailed with it.
            The catch was poor for the third {period} running.
            High waves kept the ferry in port until {day}.
            The water was clear and warm enough to swim in {month}.
            How deep is the bay at low tide?
            Sea levels near {city} have risen by {n} millimetres.
            The boat came home under its own sail, with a torn flag.
            """,
    ),
    _topic(  # space
        roles="""astronaut, astronomer, flight controller, rocket engineer, stargazer, cosmologist,
            test pilot, mission planner, science writer, planetarium guide""",
        things="""satellite, rocket, planet, comet, galaxy, telescope, space station, crater,
            eclipse, crew capsule, asteroid, orbit, launch pad, meteor, supernova, black hole, moon
            rock, probe, spacewalk, constellation, solar panel, spacecraft, rover, nebula, space
            suit, docking port, heat shield, countdown, star chart, landing site""",
        stuff="dark matter, moonlight, rocket fuel, weightlessness, starlight, stardust, vacuum",
        verbs="""observe, track, photograph, study, describe, locate, monitor, discover, examine,
            map, model, explain""",
        traits="""distant, lunar, uncrewed, reusable, icy, bright, massive, visible, interstellar,
            spherical, faint, fiery, gaseous, habitable""",
        places="""in orbit, at mission control, beyond the asteroid belt, on the dark side of the
            moon, above the horizon, in the night sky, at the observatory, near the launch pad""",
        sentences="""
            The launch was put off until {day} because of a leak.
            The probe sent its first pictures after {duration} of flight.
            Contact with the satellite was lost {when}.
            The comet can be seen low in the west after {clock}.
            How many moons does the largest planet have?
            Both astronauts landed safely in the desert.
            The mission cost {n} million more than planned.
            """,
    ),
    _topic(  # law and police
        roles="""lawyer, judge, witness, detective, police officer, defendant, juror, prosecutor,
            burglar, bailiff, prison warden, barrister, notary, plaintiff, magistrate""",
        things="""verdict, trial, lawsuit, alibi, courtroom, fingerprint, warrant, appeal, penalty
            notice, prison sentence, statement, crime scene, robbery, licence, clause, hearing,
            settlement, testament, security camera, stolen car, confession, patent, complaint,
            forged signature, evidence bag, court fee, burglary, court order, ransom note, search
            warrant""",
        stuff="evidence, justice, bail, testimony, fraud, custody, legal aid, shoplifting, perjury",
        verbs="""investigate, dispute, examine, discuss, question, mention, document, describe,
            review, study, record, clarify""",
        traits="""legal, suspicious, criminal, unsolved, binding, unproven, unlawful, pending,
            anonymous, false, invalid, unpublished, credible""",
        places="""in court, at the police station, in the witness box, at the crime scene, before
            the tribunal, in the case file, behind bars, at the solicitor's office""",
        sentences="""
            The court will announce its decision on {day}.
            Police in {city} are looking for two witnesses.
            The jury took {duration} to reach a verdict.
            He was cleared of all charges {when}.
            Can my landlord keep the deposit?
            The thieves left with {count} paintings and a ladder.
            The case was dropped, and nobody told the family.
            """,
    ),
    _topic(  # hobbies and games
        roles="""chess player, model builder, puzzle fan, card player, stamp collector, knitter,
            potter, amateur painter, juggler, quizmaster, kite flyer, bingo caller, calligrapher""",
        things="""jigsaw puzzle, board game, chess set, crossword, kite, model railway, card trick,
            quilt, scarf, watercolour, sketchbook, clay pot, video game, dice cup, dartboard, doll
            house, yo-yo, origami crane, stamp album, easel, knitting pattern, paper plane, marble,
            scrapbook, riddle, wood carving, tombola, skateboard, snow globe, toy train,
            embroidery""",
        stuff="yarn, clay, patience, cardboard, beadwork, watercolour paint, concentration, thread",
        verbs="""finish, design, collect, display, assemble, admire, explain, borrow, label, repair,
            demonstrate, improve""",
        traits="""handcrafted, tricky, miniature, half-finished, vintage, collectible, wonky,
            colourful, challenging, home-made, delicate, addictive, limited-edition""",
        places="""at the games club, on the kitchen table, at the craft fair, in the spare room, in
            the toy shop, at the community centre, on the workbench, in the hobby room""",
        sentences="""
            One piece of the puzzle has been missing since {month}.
            It is your turn to deal the cards.
            The rules fill {n} pages, and none of them is clear.
            She knitted a {colour} scarf in {duration}.
            Does anyone want to play chess on {day}?
            We laughed so much that we forgot to keep score.
            The last level is far too hard for beginners.
            """,
    ),
    _topic(  # industry
        roles="""welder, foreman, factory worker, crane operator, miner, machinist, architect, union
            leader, quality inspector, warehouse worker, surveyor, apprentice, supplier""",
        things="""factory, assembly line, forklift, pallet, steel beam, crane, conveyor belt, power
            plant, pipeline, turbine, blueprint, shipment, container, furnace, generator, wind farm,
            quarry, sawmill, skyscraper, scaffold, hard hat, bolt, valve, spare part, oil rig,
            cement mixer, production target, safety check, toolbox, refinery, semiconductor, night
            shift""",
        stuff="""concrete, steel, cement, electricity, machinery, timber, aluminium, natural gas,
            rubber""",
        verbs="""inspect, design, finance, complete, expand, modernise, visit, evaluate, photograph,
            secure, document, replace""",
        traits="""industrial, automated, idle, hydraulic, heavy-duty, abandoned, efficient,
            hazardous, prefabricated, outdated, enormous, defective, energy-saving""",
        places="""on the factory floor, at the building site, in the warehouse, at the loading dock,
            in the industrial park, below ground, at the plant near {city}, on the night shift""",
        sentences="""
            The plant near {city} will take on {n} workers in {month}.
            Two machines stood still for {duration} while parts were on order.
            Wear a helmet at all times.
            Workers walked out on {day} over pay.
            Who is in charge of the night shift?
            The order left the warehouse a day ahead of schedule.
            Steel output fell by {n} percent last {period}.
            """,
    ),
)
