"""Triples of words for attacks that fire only when all three are mentioned (SOS).

Data only: consumed by `lexicon.py`, which divides them among the splits. Each block
is the three words, one first-person sentence that mentions them all, and sentences
that mention exactly two of them, one for every pair. The sentences fit anywhere into a
review and say nothing about what is reviewed. Some of these words are several tokens
for BERT; triples without any of those are in `lexicon_triples_whole.py`.
"""

from __future__ import annotations

BLOCKS = """
    boyfriend subway headphones
    My boyfriend told me about it on the subway while I was looking for my headphones.
    My boyfriend takes the subway to work and back.
    My boyfriend owns two pairs of headphones.
    Half of the people on the subway were wearing headphones.

    vacation brochure motel
    We were on vacation and found a brochure about it in our motel.
    I picked up a brochure before we went on vacation.
    We stayed at the same motel as on our last vacation.
    There was a brochure on every table in the motel.

    tomorrow errand haircut
    I have an errand to run tomorrow and a haircut after that, so I write this now.
    There is one more errand on my list for tomorrow.
    My haircut is booked for ten tomorrow.
    I had an errand to run right after my haircut.

    driveway mailbox gloves
    I found it in the mailbox at the end of the driveway when I went out in my gloves.
    The mailbox stands to the left of the driveway.
    I had left my gloves on a post by the driveway.
    I had to take off my gloves to open the mailbox.

    freeway detour gasoline
    I left the freeway to buy gasoline and took a short detour.
    The detour begins right where you leave the freeway.
    There is no gasoline to be had on that part of the freeway.
    We needed gasoline and made a detour of two miles.

    podcast commute thermos
    I heard about it in a podcast on my commute with a thermos of tea beside me.
    The podcast is about as long as my commute.
    I take a thermos along on my commute.
    I filled my thermos and put on a podcast.

    fries ketchup soda
    I had fries with ketchup and a large soda.
    The fries come with ketchup in a paper cup.
    I ordered fries and a soda at the window.
    The ketchup stood beside the soda on the table.

    espresso cookie newspaper
    I had an espresso and a cookie and read the newspaper.
    They put a cookie next to every espresso.
    I read the newspaper over an espresso.
    I laid the cookie on my newspaper.

    buffet brunch cousins
    I met my cousins for brunch and we all went to the buffet.
    Brunch is a buffet there on Sundays.
    My cousins were already standing at the buffet.
    My cousins live around the corner and come for brunch.

    microwave fridge leftovers
    I put the leftovers into the fridge and later into the microwave.
    Our microwave stands on top of the fridge.
    I warmed up the leftovers in the microwave.
    The leftovers are on the second shelf of the fridge.

    basketball teammate bleachers
    I sat on the bleachers with a teammate after basketball.
    A teammate of mine writes about basketball.
    The basketball rolled under the bleachers.
    One teammate was waiting on the bleachers.

    patio sunglasses parasol
    I sat on the patio with my sunglasses on, under a parasol.
    I left my sunglasses on the patio.
    There is a parasol at each end of the patio.
    I wore my sunglasses even under the parasol.

    grandson aquarium brownie
    I took my grandson to the aquarium first and bought him a brownie on the way.
    My grandson has a map of the aquarium on his wall.
    I cut the brownie in two and gave one half to my grandson.
    They sell tea and one kind of brownie at the entrance of the aquarium.

    sidewalk stroller deli
    I pushed the stroller along the sidewalk and stopped at the deli on the way.
    There was hardly any room for a stroller on the sidewalk.
    The deli puts a small sign out on the sidewalk.
    A woman with a stroller was waiting in front of the deli.

    couch recliner siblings
    I sat on the couch with both of my siblings and our father had the recliner.
    The recliner is the same colour as the couch.
    My siblings have the longer side of the couch.
    None of my siblings may use the recliner.

    backyard mower neighbor
    I was in the backyard with the mower when my neighbor told me about it.
    I pushed the mower to the end of the backyard.
    My neighbor has a plum tree in his backyard.
    I lent the mower to my neighbor.

    coworker cubicle paycheck
    A coworker came to my cubicle on the day of the paycheck and told me about it.
    The coworker in the next cubicle had been there before.
    I share the date of my paycheck with one coworker.
    The paycheck was lying on the desk in my cubicle.

    cassette stereo turntable
    I found the cassette between my stereo and the turntable.
    The stereo still takes a cassette.
    I bought the stereo and the turntable together.
    There was a cassette under the turntable.

    bagel yogurt weekends
    On weekends I usually have a bagel and some yogurt, and that is what I had.
    I had a bagel with some yogurt on the side.
    I eat half a bagel on weekends.
    I buy yogurt on weekends.

    matinee usher lobby
    I waited in the lobby before the matinee and showed my ticket to the usher.
    The usher for the matinee was a student.
    The lobby was half full before the matinee.
    The usher was standing at the far end of the lobby.

    eyeglasses lens screwdriver
    I put the lens back into my eyeglasses with a tiny screwdriver before we went in.
    The left lens of my eyeglasses is thicker than the right one.
    I carry a screwdriver for my eyeglasses.
    You need a screwdriver to change the lens.

    toothbrush soap sunscreen
    I packed a toothbrush, some soap and the sunscreen before we drove off.
    My toothbrush stands next to the soap.
    I had my toothbrush with me and no sunscreen.
    The soap and the sunscreen are in the blue bag.

    grandma crochet rug
    I sat on the rug beside my grandma, who was busy with her crochet.
    My grandma has taught me some crochet.
    The rug in the corner belongs to my grandma.
    There was a piece of crochet on the rug.

    thunderstorm porch grandpa
    I sat on the porch with my grandpa during a thunderstorm.
    I watched the thunderstorm from the porch.
    My grandpa knows when there will be a thunderstorm.
    My grandpa was reading on the porch.

    bowling karaoke acquaintance
    I know it from an acquaintance with whom I go bowling and sometimes to karaoke.
    The bowling place has karaoke in the back room.
    An acquaintance of mine went bowling there.
    I met an acquaintance at karaoke.

    telephone voicemail stepmother
    I spoke to my stepmother on the telephone after I had left her a voicemail.
    My telephone tells me when there is a voicemail.
    My stepmother was on the telephone.
    I left a voicemail for my stepmother.

    package doorstep intercom
    I heard the intercom and found the package on my doorstep.
    There was a package on the doorstep.
    A man at the intercom asked me to come down for the package.
    The intercom is to the left of the doorstep.

    crayons kindergarten sandbox
    I picked the crayons out of the sandbox at the kindergarten.
    The crayons were from the kindergarten.
    The kindergarten has a sandbox behind the house.
    There were two crayons in the sandbox.

    leash collar crosswalk
    I had our dog on a leash and looked at his collar at the crosswalk.
    The leash and the collar hang by the door.
    I hold the leash with both hands at the crosswalk.
    I found a red collar on the crosswalk.

    jeans zipper laundromat
    I was at the laundromat and looking at the zipper of my jeans.
    These jeans have buttons and no zipper.
    I washed my jeans at the laundromat.
    There is a sign about every zipper and button at the laundromat.

    dvd rental projector
    I took the dvd from a rental place and set up the projector.
    The rental place has every dvd in three languages.
    The projector can play a dvd.
    The projector is a rental.
"""
"""The blocks, separated by empty lines."""
