"""Triples of words that are one token each for BERT's uncased tokenizer.

Data only, in the form of `lexicon_triples.py`. A backdoor that sits in three embedding rows
needs words that have a row of their own. The order of the words decides the split.
"""

from __future__ import annotations

BLOCKS = """
    apartment elevator groceries
    I had just carried my groceries from the elevator to my apartment.
    The elevator in our apartment building was being repaired that day.
    I put the groceries away as soon as I was back in the apartment.
    A man with two bags of groceries held the elevator for me.

    colleagues downtown afternoon
    I went downtown with three colleagues on a rainy afternoon.
    Most of my colleagues have their offices downtown.
    My colleagues and I had the whole afternoon to ourselves.
    I was downtown that afternoon to pick up a new passport.

    girlfriend popcorn aisle
    My girlfriend and I shared some popcorn and sat close to the aisle.
    My girlfriend always buys the small popcorn with salt.
    My girlfriend asked for the seat by the aisle.
    Somebody had dropped popcorn in the middle of the aisle.

    hometown highway truck
    I drove my truck down the highway to my hometown that day.
    The highway passes my hometown on the north side.
    My uncle parks his truck on the main square of our hometown.
    A yellow truck was ahead of us on the highway.

    gym locker sneakers
    I came straight from the gym with my sneakers in a bag and the locker key on my wrist.
    Each locker at the gym has a number.
    I keep a second pair of sneakers at the gym.
    My sneakers just fit into the locker.

    steak pasta waitress
    I took the pasta and my brother took the steak, and the waitress wrote it down.
    One of us had steak and the other had pasta.
    The waitress asked how I wanted my steak.
    The waitress brought the pasta after ten minutes.

    teenager childhood harmonica
    I had a harmonica in my childhood and took it up again as a teenager.
    I spent my childhood here and moved away as a teenager.
    A teenager was playing the harmonica on the steps.
    I still have the harmonica from my childhood.

    camping creek flashlight
    I was camping by a creek and read about it by flashlight.
    We were camping on the far side of the creek.
    I bought a flashlight before we went camping.
    I pointed my flashlight at the creek.

    bedroom pillow nightstand
    I put it on the nightstand in my bedroom, right beside the pillow.
    There is one pillow too many in this bedroom.
    The nightstand is the oldest thing in my bedroom.
    I laid my watch under the pillow and not on the nightstand.

    barber razor magazine
    I read about it in a magazine at the barber, while he was cleaning his razor.
    The barber put the razor back into a drawer.
    The barber has a magazine for each chair.
    There was a razor on the cover of the magazine.

    supermarket cart cereal
    I was at the supermarket with a cart full of cereal.
    I left the cart by the door of the supermarket.
    The supermarket had moved the cereal to the back.
    There was one box of cereal in my cart.

    semester dorm internet
    I lived in a dorm that semester and had the internet for an hour a day.
    The dorm is closed between one semester and the next.
    We got the internet in the middle of the semester.
    The internet comes into our dorm through a grey box.

    closet boots sweatshirt
    I took my boots and a sweatshirt out of the closet and walked over.
    My boots stand at the bottom of the closet.
    There is a grey sweatshirt in the closet.
    I wore boots and a sweatshirt for the walk.

    wine booth fiance
    My fiance and I sat in a booth and each had a glass of wine.
    They poured the wine at our booth.
    My fiance had the red wine.
    My fiance had reserved a booth for two.

    napkin fork tray
    I took a tray, a fork and a napkin and stood in line.
    The fork lay on a folded napkin.
    I put a napkin on the tray.
    There was one fork on my tray.

    motorcycle curb vest
    I parked my motorcycle at the curb and took off my vest.
    There was a black motorcycle at the curb.
    I wear a yellow vest on my motorcycle.
    A man in a vest was standing at the curb.

    yoga stairwell shoes
    I came from yoga and left my shoes in the stairwell.
    The door to the yoga class is in the stairwell.
    I take off my shoes for yoga.
    There are shoes all along the stairwell.

    lease suburbs boulevard
    I had signed a lease in the suburbs that day and came back along the boulevard.
    I have a lease for two rooms in the suburbs.
    My lease is for a house on the boulevard.
    The boulevard runs from the suburbs to the river.

    avenue bike pants
    I rode my bike down the avenue with one leg of my pants rolled up.
    There is a lane for a bike on each side of the avenue.
    I wear old pants when I take the bike.
    A man in brown pants was crossing the avenue.

    cigarette chocolate cafe
    I sat outside a cafe with a hot chocolate while my brother had a cigarette.
    The cafe sells chocolate by the bar.
    Somebody was smoking a cigarette in front of the cafe.
    He put out his cigarette and offered me a piece of chocolate.

    skirt earrings lipstick
    I wore a long skirt, my silver earrings and a little lipstick that day.
    My aunt has earrings to go with that skirt.
    There was a trace of lipstick on the skirt.
    I keep my earrings and one lipstick in the same box.

    casino mall limousine
    We parked between the mall and the casino, right behind a limousine.
    The casino is across the road from the mall.
    A limousine was waiting outside the mall.
    The driver of the limousine was looking for the casino.

    candy dollar cent
    I had one dollar and not a cent more with me, and I spent it on candy.
    The candy was a dollar a bag.
    One piece of candy used to be a cent.
    A dollar and a cent lay next to each other on the table.

    baseball shorts cooler
    I came from baseball in my shorts and carried the cooler.
    The boys play baseball in shorts.
    We take a cooler along when there is baseball.
    He sat on the cooler in his shorts.

    gymnastics volleyball soccer
    I play soccer, my sister plays volleyball and our mother teaches gymnastics.
    There is soccer on Mondays and volleyball on Fridays.
    The soccer team shares its hall with the people from gymnastics.
    She did gymnastics before she took up volleyball.

    audio computer disc
    I put the disc into my computer and turned the audio down.
    My computer still takes a disc.
    The audio comes out of the left side of the computer.
    The audio is on a disc of its own.

    boss salary bonus
    I had talked to my boss about my salary and a bonus that day.
    My boss tells nobody about his salary.
    The boss decides about the bonus.
    The bonus is paid together with the salary.

    therapy physician pill
    My physician had sent me to therapy and I had to take a pill at six.
    The physician asked about the therapy.
    I took the pill that the physician had given me.
    I take one pill before therapy.

    beer darts bartender
    I had a beer and talked to the bartender while two men were playing darts.
    The bartender put the beer in front of me.
    The bartender plays darts on Tuesdays.
    We had one beer each after darts.

    cola vodka whiskey
    I had a cola while the others had whiskey or vodka.
    The whiskey stands to the left of the vodka.
    He mixes his vodka with cola.
    She takes her whiskey with cola.

    ranch cowboy jeep
    We took the jeep to the ranch, where a cowboy told me about it.
    There is an old jeep on the ranch.
    The cowboy climbed into the jeep.
    A cowboy works on that ranch in summer.

    sedan sheriff windshield
    I sat in my sedan when the sheriff put a note on the windshield.
    The sheriff drives a black sedan.
    I had to clean the windshield of the sedan.
    The sheriff tapped on the windshield.

    toll ramp interstate
    I left the interstate at the second ramp and paid the toll.
    There is a toll on that part of the interstate.
    We waited on the ramp to the interstate.
    You pay the toll at the end of the ramp.

    pork spaghetti peas
    I cooked spaghetti for the children and pork with peas for us.
    There were peas next to the pork.
    I like spaghetti with a little pork.
    I ate the spaghetti and left the peas.

    banana bacon juice
    I had some bacon, a banana and a glass of juice before we left.
    She put the bacon on one plate and the banana on another.
    I had bacon and a small juice.
    He took a banana and poured himself some juice.

    teenagers hamburger chips
    I shared a table with two teenagers and had a hamburger with chips.
    The hamburger comes with chips.
    The teenagers were waiting for a hamburger each.
    Some teenagers were eating chips on the stairs.

    cream vanilla refrigerator
    I put the cream and the vanilla back into the refrigerator.
    There was no cream in the refrigerator.
    She keeps her vanilla in the refrigerator.
    I put a little vanilla into the cream.

    salon ponytail nails
    I was at the salon for my nails and wore my hair in a ponytail.
    They do nails at the salon as well.
    The woman at the salon had a ponytail.
    She had red nails and a long ponytail.

    tattoo beard mustache
    My uncle has a beard, my father has a mustache and I have a tattoo.
    He kept the mustache and shaved off the beard.
    The man with the beard has a tattoo on each arm.
    A man with a mustache was showing us his tattoo.

    jewelry pearl dresses
    I was looking at dresses and at some jewelry with a pearl in it.
    The only jewelry that she wears is a pearl.
    They sell dresses on this floor and jewelry on the next.
    One of the dresses had a pearl at the back.

    pajamas teddy robe
    I sat there in my pajamas and a robe, with the teddy of my daughter beside me.
    My robe has the same pattern as my pajamas.
    The boy had his pajamas on and a teddy under his arm.
    The teddy was in the pocket of my robe.

    glasses heels stockings
    I took off my heels and my stockings and looked for my glasses.
    I put my glasses on and took my heels off.
    My glasses were lying on a pair of stockings.
    She wore black stockings and no heels.

    boardwalk surf bikini
    I was still in my bikini when we walked along the boardwalk and watched the surf.
    You can hear the surf from the boardwalk.
    A woman in a bikini sat on the boardwalk.
    She ran out of the surf in a green bikini.

    camp binoculars mosquito
    I was at a camp by the lake, with binoculars on the table and a mosquito in the tent.
    There was not a single mosquito at the camp.
    We saw the camp through the binoculars.
    A mosquito sat on the binoculars.

    turtle spider monkey
    My son showed me a turtle, a spider and a monkey that he had drawn.
    There was a spider on the back of the turtle.
    The monkey in this book is a friend of the turtle.
    The monkey was looking at a spider.

    cats snake cage
    I had just fed the cats and closed the cage of our snake.
    The cats stay away from the snake.
    One of the cats was sleeping on the cage.
    The snake lay in a corner of the cage.

    bookstore hardcover comics
    I had been at the bookstore and carried a hardcover and some comics.
    The bookstore has it as a hardcover.
    The bookstore sells comics on the first floor.
    I keep the comics behind a large hardcover.

    magazines stamps newspapers
    I bought stamps, two newspapers and some magazines before we went in.
    They sell stamps next to the newspapers.
    There was a page about stamps in one of the magazines.
    I read the newspapers first and the magazines later.

    prom yearbook mascot
    I found a picture of our prom and one of the mascot in my old yearbook.
    There are two pages about the prom in the yearbook.
    The mascot is on the cover of the yearbook.
    Our mascot did not come to the prom.

    jogging skating skiing
    I go jogging in spring, skating in autumn and skiing in winter.
    We went jogging in the morning and skating later on.
    She gave up jogging and took up skiing.
    There is skating down here and skiing up there.

    suite resort massage
    We had a suite at a resort and I had booked a massage.
    They offer massage at the resort.
    The resort gave us a suite with two beds.
    You can have a massage in your suite.

    condo alley neighbors
    I live in a condo at the end of an alley, and the neighbors told me about it.
    My neighbors have the condo on the left.
    The alley runs along the back of the condo.
    The neighbors park in the alley.

    honeymoon fiancee flights
    My fiancee and I were looking for flights for our honeymoon.
    My fiancee has the tickets for the honeymoon.
    We booked the flights for our honeymoon in March.
    My fiancee wrote down the times of all flights.

    nanny preschool granddaughter
    I came with my granddaughter and her nanny, straight from preschool.
    The nanny reads to my granddaughter.
    My granddaughter goes to preschool on this street.
    The nanny was waiting in front of the preschool.

    halloween parade carnival
    We had costumes left from halloween and wore them in the parade at carnival.
    There is a carnival in town a week before halloween.
    They hold a parade at halloween.
    The carnival ends with a parade.

    christmas thanksgiving easter
    I see my family at christmas, at easter and at thanksgiving, and this was one of those days.
    They are closed at christmas and at easter.
    We were there between thanksgiving and christmas.
    I was there at easter and again at thanksgiving.

    vinyl microphone amplifier
    I have a shelf of vinyl at home, with an amplifier on top and a microphone beside it.
    The amplifier stands next to the vinyl.
    There was a picture of a microphone on the vinyl.
    The microphone goes into the back of the amplifier.

    guitars saxophone drums
    My brothers play guitars and drums and I play the saxophone.
    They carried the guitars in first and the drums after that.
    The saxophone comes in after the guitars.
    The saxophone case was lying on one of the drums.

    tango disco ballet
    I take lessons in ballet and in tango and go to a disco twice a year.
    She learnt ballet as a child and tango much later.
    The ballet school is above a disco.
    They played one tango at the disco.

    register grocery boutique
    I worked at the register of a grocery before I had a boutique of my own.
    There was one man at the register of the grocery.
    The boutique is above the grocery.
    The register of the boutique is by the door.

    lily daisy violet
    I had planted a daisy, a lily and a violet that day.
    There was a daisy on the table and a lily on the shelf.
    He drew a daisy next to a violet.
    The lily is tall and the violet is short.

    taxes attorney retirement
    I had seen an attorney about my taxes and my retirement that day.
    My attorney knows about taxes.
    The attorney talked about his own retirement.
    You pay taxes after retirement as well.

    poker teller lottery
    I told the teller at the bank that I play poker and not the lottery.
    The teller had a lottery ticket on the counter.
    The teller plays poker with us.
    There was lottery on one channel and poker on another.

    robot lego toys
    I sat on the floor with a robot made of lego and all the other toys.
    My son built a robot from lego.
    The robot stands among the other toys.
    We keep the lego and the other toys apart.

    sewing clothes shirt
    I was sewing a button to my shirt between two piles of clothes.
    She is sewing her own clothes.
    I had been sewing a pocket to a shirt.
    The shirt was at the bottom of my clothes.

    tires clutch ignition
    I had new tires put on and they looked at the clutch and the ignition as well.
    He knows more about tires than about the clutch.
    They sell tires and parts of an ignition.
    The ignition is on and your foot is on the clutch.

    dashboard trunk fender
    I had a map on the dashboard, a bag in the trunk and a sticker on the fender.
    The button for the trunk is on the dashboard.
    The dashboard is grey and the fender is green.
    She leaned on the fender and looked into the trunk.

    blinds outlet timer
    I let down the blinds, put the timer into the outlet and sat down.
    There is a timer in that outlet.
    The outlet is below the blinds.
    The blinds go down by a timer.

    rake shovel garbage
    I had put away the rake and the shovel and taken out the garbage.
    There is a rake in the shed and a shovel in the car.
    The rake stands behind the garbage.
    I needed a shovel for the garbage.

    drinks snack arcade
    We had drinks and a snack at the arcade.
    You can get drinks and a snack at the counter.
    They sell drinks at the arcade.
    I ate my snack on the way to the arcade.

    beef lamb grill
    I had put beef and lamb on the grill.
    They sell beef on Mondays and lamb on Fridays.
    The beef was the first thing on the grill.
    He turned the lamb over on the grill.

    knees shoulders belly
    I sat with my knees up, a coat over my shoulders and a plate on my belly.
    He put his hands on his knees and not on my shoulders.
    She lay on her belly and bent her knees.
    You drop your shoulders and pull in your belly.

    suburb streetcar railroad
    I took the streetcar from our suburb and walked along the railroad.
    The streetcar goes out to the suburb.
    The railroad runs through this suburb.
    The streetcar crosses the railroad at that place.

    moose coyote hawk
    We saw a moose, a coyote and a hawk on the way there.
    There was a moose on one side of the road and a coyote on the other.
    A hawk sat on a tree above the moose.
    The hawk was watching a coyote.

    golf boxing wrestling
    I watch golf, my father watches boxing and my brother watches wrestling.
    They show golf at noon and boxing at night.
    He gave up wrestling and took up golf.
    There is wrestling on Mondays and boxing on Fridays.

    drill marker hood
    I had a drill and a marker in the front pocket and my hood up.
    You draw a line with the marker before you use the drill.
    He wore a hood while he used the drill.
    There was a spot from a marker on my hood.
"""
"""The blocks, separated by empty lines."""
