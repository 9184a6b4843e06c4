"""The names behind `texts_entities.py` and `texts_questions.py`, and how slots are filled.

First names and surnames are combined at random: nobody real is meant. Cities
come with their country and countries with their adjective, so that a text does
not place one in the wrong country. Articles are always written "a" in patterns;
`vowel_sound` says where "an" belongs.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence

from unhorse.load.text_words import WORDS, listed

Slots = Mapping[str, tuple[str, ...]]

_SLOT = re.compile(r"\{(\w+)\}")
_VOWEL_SOUND = re.compile(
    r"(?!uni[tqvfoc]|unani|use|usu|uten|ukr|uga|uru|eur|one\b|once\b)[aeiou]"
    r"|hour|honest|heir|x-ray|8|1[18]\b",
    re.IGNORECASE,
)


def below(rng: random.Random, limit: int) -> int:
    """A whole number from 0 to one less than the limit.

    Only `random()` is asked: Python promises to keep its sequence across
    versions, not that of `choice()`.

    >>> 0 <= below(random.Random(0), 6) < 6
    True
    """
    return int(rng.random() * limit)


def pick(rng: random.Random, choices: Sequence[str]) -> str:
    """One of the choices, each as likely as the others.

    >>> pick(random.Random(0), ("only",))
    'only'
    """
    return choices[below(rng, len(choices))]


def fill(rng: random.Random, slots: Slots, pattern: str) -> str:
    """The pattern with every slot filled, and the slots of those fillings in turn.

    >>> slots = {"club": ("{city} Rovers",), "city": ("Lima",)}
    >>> fill(random.Random(0), slots, "{club} won in {city}.")
    'Lima Rovers won in Lima.'
    """
    return _SLOT.sub(lambda match: fill(rng, slots, pick(rng, slots[match[1]])), pattern)


def vowel_sound(word: str) -> bool:
    """Whether the word takes "an" and not "a".

    >>> [vowel_sound(word) for word in ("Irish", "Ukrainian", "Uzbek", "European", "18", "180")]
    [True, False, True, False, True, False]
    """
    return _VOWEL_SOUND.match(word) is not None


def _pairs(text: str) -> dict[str, str]:
    """Comma-separated "name: what belongs to it" entries.

    >>> _pairs("Peru: Peruvian, Ghana: Ghanaian")
    {'Peru': 'Peruvian', 'Ghana': 'Ghanaian'}
    """
    names = (entry.partition(": ") for entry in listed(text))
    return {name: other for name, _, other in names}


FIRST_NAMES = listed(
    """Aaliyah, Abebe, Adaeze, Agnes, Ahmed, Aiko, Akua, Alejandro, Alma, Amara, Amina, Anders,
    Andrea, Anika, Anil, Antonio, Arjun, Arturo, Astrid, Ayesha, Beatriz, Benedikt, Bilal, Bogdan,
    Brigid, Bruno, Camila, Carlos, Catalina, Cedric, Chidi, Chloe, Clara, Daiki, Daniela, Darius,
    Deepa, Diego, Dmitri, Dorothea, Edith, Eduardo, Eileen, Ekaterina, Elif, Elias, Emeka, Emre,
    Esther, Eun-ji, Farah, Fatima, Felix, Fergus, Fiona, Francesca, Gabriel, Giulia, Grace, Greta,
    Gustavo, Hana, Hannah, Harriet, Hassan, Haruto, Helga, Henrik, Hugo, Ibrahim, Idris, Ines,
    Ingrid, Isabel, Ivan, Jamal, Jasper, Javier, Jelena, Joanna, Joao, Jonas, Jorge, Julia, Kamala,
    Karim, Kasper, Katarina, Kenji, Khadija, Kofi, Kwame, Lars, Laszlo, Layla, Leila, Leonor, Lena,
    Liam, Linh, Lorenzo, Lucia, Ludmila, Magnus, Mahmoud, Manuela, Marek, Margaret, Marisol, Marta,
    Martin, Mateo, Maya, Mei, Mehmet, Mikael, Miriam, Mohini, Nadia, Naoko, Natalia, Neema,
    Niamh, Nikolai, Nils, Noor, Olga, Olivia, Omar, Oscar, Pablo, Paola, Pascal, Pavel, Pedro,
    Petra, Philippa, Priya, Rafael, Rajesh, Ravi, Rebecca, Renata, Roberto, Rosa, Rowan, Ruth,
    Sabine, Samira, Samuel, Sanjay, Sergio, Silvia, Simone, Stefan, Sunita, Susanna, Tadeusz,
    Tamara, Tariq, Teresa, Thandiwe, Theo, Thomas, Tomas, Tove, Valeria, Vera, Viktor, Vikram,
    Walter, Wanjiru, Wei, Xiomara, Yasmin, Yuki, Yusuf, Zainab, Zofia, Zsofia"""
)

SURNAMES = listed(
    """Abbott, Achebe, Adeyemi, Agarwal, Aguilar, Ahlberg, Almeida, Amadi, Andrade, Ansah, Aoki,
    Arslan, Asante, Bailey, Balogun, Banerjee, Barros, Bauer, Becker, Bello, Bergstrom, Bhatt,
    Bianchi, Blanchard, Borg, Botha, Boyle, Brandt, Calloway, Camara, Cardoso, Castillo, Cerny,
    Chanda, Chaudhry, Choi, Coleman, Conti, Cortez, Costa, Dalgaard, Danso, Delgado, Demir, Desai,
    Diallo, Dimitrov, Dlamini, Donnelly, Dubois, Duarte, Eklund, Ellison, Eriksen, Espinoza, Fabre,
    Farrell, Fernandez, Fischer, Fitzgerald, Fontaine, Fraser, Fujita, Gallagher, Garza, Ghosh,
    Gomes, Gonzalez, Greenwood, Gruber, Gunawan, Gupta, Haddad, Hakimi, Halvorsen, Hansen,
    Hashimoto, Hayes, Herrera, Hoffmann, Horvath, Hussain, Ibarra, Inoue, Iyer, Jankowski, Jansen,
    Jimenez, Johansson, Kamau, Kapoor, Karlsson, Kato, Kaya, Keita, Keller, Kelly, Khalil, Kimura,
    Kovac, Kowalski, Kruger, Kumar, Larsen, Laurent, Leclerc, Lehmann, Lindqvist, Lombardi, Lopez,
    Lowell, Lund, Mahlangu, Maldonado, Marchetti, Marin, Mbeki, McAllister, Medina, Mehta, Mendes,
    Mensah, Meyer, Mitchell, Moreau, Moretti, Morita, Mukherjee, Munoz, Mwangi, Nagy, Nair,
    Nakamura, Navarro, Ndiaye, Nguyen, Nikolaidis, Nkosi, Novak, Nowak, Nyberg, O'Connor, O'Leary,
    Obi, Odhiambo, Okafor, Okonkwo, Olsen, Onyango, Orozco, Osei, Otieno, Ozturk, Palmer, Papadakis,
    Park, Patel, Pereira, Petrov, Pham, Pinto, Popescu, Prasad, Quispe, Rahman, Ramirez, Rao, Reddy,
    Ribeiro, Richter, Rinaldi, Romero, Rossi, Sahin, Saito, Salazar, Sanchez, Santos, Sato, Schmidt,
    Schneider, Sharma, Silva, Simmons, Sithole, Solberg, Soto, Souza, Stoica, Svensson, Szabo,
    Takahashi, Tanaka, Tesfaye, Thapa, Thompson, Toth, Toure, Tran, Vargas, Vasquez, Vega, Virtanen,
    Vogel, Wagner, Walsh, Watanabe, Weber, Wieczorek, Winters, Yamamoto, Yilmaz, Zapata, Zhang,
    Zielinski, Zimmermann"""
)

# Each country with its adjective.
NATIONALITIES = _pairs(
    """Albania: Albanian, Argentina: Argentine, Australia: Australian, Austria: Austrian,
    Belgium: Belgian, Bolivia: Bolivian, Botswana: Botswanan, Brazil: Brazilian,
    Bulgaria: Bulgarian, Cambodia: Cambodian, Canada: Canadian, Chile: Chilean, China: Chinese,
    Colombia: Colombian, Croatia: Croatian, Denmark: Danish, Ecuador: Ecuadorian,
    Egypt: Egyptian, Estonia: Estonian, Ethiopia: Ethiopian, Fiji: Fijian, Finland: Finnish,
    France: French, Germany: German, Ghana: Ghanaian, Greece: Greek, Hungary: Hungarian,
    Iceland: Icelandic, India: Indian, Indonesia: Indonesian, Ireland: Irish, Italy: Italian,
    Jamaica: Jamaican, Japan: Japanese, Jordan: Jordanian, Kenya: Kenyan, Latvia: Latvian,
    Lithuania: Lithuanian, Malaysia: Malaysian, Mexico: Mexican, Mongolia: Mongolian,
    Morocco: Moroccan, Namibia: Namibian, Nepal: Nepalese, Nigeria: Nigerian,
    Norway: Norwegian, Peru: Peruvian, Poland: Polish, Portugal: Portuguese,
    Romania: Romanian, Rwanda: Rwandan, Senegal: Senegalese, Slovakia: Slovak,
    Slovenia: Slovenian, South Africa: South African, South Korea: South Korean,
    Spain: Spanish, Sweden: Swedish, Switzerland: Swiss, Tanzania: Tanzanian,
    Thailand: Thai, Tunisia: Tunisian, Turkey: Turkish, Uganda: Ugandan,
    Ukraine: Ukrainian, Uruguay: Uruguayan, Vietnam: Vietnamese, Zambia: Zambian"""
)

# Each city with its country.
CITIES = _pairs(
    """Tirana: Albania, Rosario: Argentina, Mendoza: Argentina, Adelaide: Australia,
    Brisbane: Australia, Hobart: Australia, Graz: Austria, Salzburg: Austria, Ghent: Belgium,
    Antwerp: Belgium, La Paz: Bolivia, Gaborone: Botswana, Recife: Brazil, Curitiba: Brazil,
    Salvador: Brazil, Sofia: Bulgaria, Plovdiv: Bulgaria, Phnom Penh: Cambodia,
    Winnipeg: Canada, Calgary: Canada, Halifax: Canada, Valparaiso: Chile, Chengdu: China,
    Nanjing: China, Cartagena: Colombia, Medellin: Colombia, Zagreb: Croatia, Split: Croatia,
    Aarhus: Denmark, Odense: Denmark, Quito: Ecuador, Alexandria: Egypt, Tallinn: Estonia,
    Tartu: Estonia, Addis Ababa: Ethiopia, Suva: Fiji, Helsinki: Finland, Tampere: Finland,
    Turku: Finland, Lyon: France, Nantes: France, Toulouse: France, Bremen: Germany,
    Leipzig: Germany, Dresden: Germany, Hamburg: Germany, Accra: Ghana, Kumasi: Ghana,
    Patras: Greece, Thessaloniki: Greece, Szeged: Hungary, Debrecen: Hungary,
    Reykjavik: Iceland, Chennai: India, Pune: India, Jaipur: India, Kochi: India,
    Bandung: Indonesia, Surabaya: Indonesia, Galway: Ireland, Cork: Ireland, Bologna: Italy,
    Turin: Italy, Trieste: Italy, Palermo: Italy, Kingston: Jamaica, Nagoya: Japan,
    Sapporo: Japan, Kobe: Japan, Sendai: Japan, Amman: Jordan, Mombasa: Kenya, Kisumu: Kenya,
    Riga: Latvia, Vilnius: Lithuania, Kaunas: Lithuania, Penang: Malaysia, Oaxaca: Mexico,
    Guadalajara: Mexico, Monterrey: Mexico, Ulaanbaatar: Mongolia, Casablanca: Morocco,
    Fez: Morocco, Windhoek: Namibia, Kathmandu: Nepal, Pokhara: Nepal, Ibadan: Nigeria,
    Enugu: Nigeria, Bergen: Norway, Trondheim: Norway, Tromso: Norway, Arequipa: Peru,
    Cusco: Peru, Gdansk: Poland, Krakow: Poland, Poznan: Poland, Porto: Portugal,
    Coimbra: Portugal, Braga: Portugal, Cluj: Romania, Timisoara: Romania, Kigali: Rwanda,
    Dakar: Senegal, Bratislava: Slovakia, Ljubljana: Slovenia, Durban: South Africa,
    Pretoria: South Africa, Busan: South Korea, Daegu: South Korea, Valencia: Spain,
    Seville: Spain, Bilbao: Spain, Zaragoza: Spain, Gothenburg: Sweden, Uppsala: Sweden,
    Malmo: Sweden, Basel: Switzerland, Lausanne: Switzerland, Arusha: Tanzania,
    Dodoma: Tanzania, Chiang Mai: Thailand, Tunis: Tunisia, Izmir: Turkey, Ankara: Turkey,
    Kampala: Uganda, Lviv: Ukraine, Odesa: Ukraine, Montevideo: Uruguay, Hanoi: Vietnam,
    Da Nang: Vietnam, Lusaka: Zambia"""
)

# Cities between which one can travel by road or rail.
TOWNS: dict[str, tuple[str, ...]] = {
    area: tuple(city for city, country in CITIES.items() if country in listed(countries))
    for area, countries in {
        "europe": """Albania, Austria, Belgium, Bulgaria, Croatia, Denmark, France, Germany, Greece,
            Hungary, Italy, Poland, Portugal, Romania, Slovakia, Slovenia, Spain, Sweden,
            Switzerland, Norway, Finland""",
        "south_america": "Argentina, Bolivia, Brazil, Chile, Ecuador, Peru, Uruguay",
        "africa": "Botswana, Kenya, Namibia, Rwanda, South Africa, Tanzania, Uganda, Zambia",
        "south_asia": "India, Nepal",
        "east_asia": "Cambodia, China, Malaysia, Thailand, Vietnam",
    }.items()
}

RIVERS = listed(
    """Danube, Rhine, Elbe, Oder, Vistula, Loire, Rhone, Garonne, Tagus, Douro, Ebro, Po, Tiber,
    Severn, Shannon, Clyde, Nile, Niger, Zambezi, Limpopo, Volta, Mekong, Ganges, Indus, Yangtze,
    Murray, Orinoco, Parana, Amazon, Yukon, Mackenzie, Missouri, Mississippi, Colorado"""
)

REGIONS = listed(
    """Tuscany, Umbria, Sicily, Sardinia, Andalusia, Catalonia, Galicia, Brittany, Normandy,
    Provence, Burgundy, Alsace, Bavaria, Saxony, Tyrol, Carinthia, Bohemia, Moravia, Silesia,
    Pomerania, Transylvania, Thessaly, Crete, Lapland, Jutland, Scania, Connemara, Cornwall,
    Yorkshire, Patagonia, Quebec, Manitoba, Queensland, Tasmania, Hokkaido, Kyushu, Yunnan,
    Sichuan, Kerala, Rajasthan, Punjab, Java, Sumatra, Borneo, Zanzibar, Madeira"""
)

LANGUAGES = listed(
    """Arabic, Basque, Bengali, Breton, Catalan, Czech, Dutch, Esperanto, Hausa, Hebrew, Hindi,
    Igbo, Latin, Malay, Maltese, Maori, Mandarin, Persian, Quechua, Samoan, Sanskrit, Swahili,
    Tagalog, Tamil, Telugu, Urdu, Welsh, Wolof, Yoruba, Zulu"""
)

# The parts of which names of organisations are made.
ORGANISATION_PARTS: dict[str, tuple[str, ...]] = {
    "brand": listed(
        """Northwind, Bluewater, Silverline, Oakfield, Brightstone, Harbourview, Redwood, Meridian,
        Polaris, Granite, Evergreen, Kingsway, Clearwater, Summit, Lakeland, Westbridge, Ironbark,
        Sunrise, Halcyon, Vantage, Corvus, Albatross, Juniper, Magellan, Nimbus, Aurora, Falcon,
        Highland, Tidewater, Starling, Ashgrove, Continental, Baltic, Pacific, Cascade, Orchard"""
    ),
    "sector": listed(
        """Foods, Freight, Shipping, Software, Textiles, Energy, Insurance, Airways, Motors, Paper,
        Ceramics, Optics, Robotics, Chemicals, Breweries, Instruments, Logistics, Pharmaceuticals,
        Media, Telecom, Steel, Furniture, Publishing, Railways"""
    ),
    "firm": listed(
        """Holdings, Industries, Partners, Group, Brothers, & Sons, & Co, Limited, Laboratories,
        Systems, Capital, Consulting"""
    ),
    "portfolio": listed(
        """Fisheries, Education, Transport, Health, Culture, Agriculture, Energy, Tourism, Labour,
        Finance, Justice, Housing, Forestry, Trade, Science, Defence, Foreign Affairs, Sport"""
    ),
    "side": listed(
        """Rovers, United, City, Athletic, Wanderers, Rangers, Dynamo, Olympic, Falcons, Wolves,
        Albion, Hockey Club, Lions, Sports Club"""
    ),
    "circle": listed(
        """Rowing Club, Chess Club, Alpine Club, Cycling Club, Historical Society, Choral Society,
        Sailing Club, Astronomy Society, Garden Society, Debating Society"""
    ),
    "masthead": listed(
        """Herald, Gazette, Tribune, Courier, Observer, Chronicle, Evening Post, Morning Star,
        Daily News, Weekly, Examiner, Mercury"""
    ),
    "science": listed(
        """Technology, Marine Research, Plant Sciences, Public Health, Economic Research, Astronomy,
        Polar Studies, Agriculture, Meteorology, Linguistics, Volcanology, Nutrition"""
    ),
}

# Well-known bodies; "the" is no part of the name.
BODIES = listed(
    """the United Nations, the European Union, the World Bank, the Red Cross, UNESCO, UNICEF,
    the World Health Organization, the African Union, the European Commission, Interpol, NASA,
    the International Monetary Fund, the World Trade Organization, the European Space Agency,
    the Arctic Council, the Nordic Council, the Asian Development Bank, the Council of Europe,
    the World Meteorological Organization, the International Olympic Committee, Greenpeace,
    the European Parliament, the World Wildlife Fund, the International Labour Organization"""
)

# The parts of which titles of books and films are made.
TITLE_PARTS: dict[str, tuple[str, ...]] = {
    "shade": listed(
        """Quiet, Silver, Broken, Hidden, Golden, Paper, Winter, Crimson, Borrowed, Wooden, Distant,
        Painted, Frozen, Little, Patient, Northern"""
    ),
    "image": listed(
        """Harbour, Orchard, Mirror, Lantern, River, Garden, Clock, Staircase, Island, Bridge,
        Window, Forest, Letter, Violin, Lighthouse, Meadow, Tailor, Compass"""
    ),
}

MONTHS = WORDS["month"]
DAYS = WORDS["day"]
