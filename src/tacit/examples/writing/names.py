"""Names of many origins; every combination of them is invented.

Each name belongs to one of three vocabularies by a fixed hash, so that documents of the calibration and test families
hold names that no training document has.
"""

from __future__ import annotations

import zlib
from random import Random

from tacit.examples.writing.lists import words

WOMEN = words("""
Mary Patricia Linda Barbara Susan Jessica Karen Nancy Margaret Sandra Ashley Dorothy Kimberly Emily Donna Michelle
Carol Amanda Melissa Deborah Stephanie Rebecca Laura Cynthia Kathleen Amy Shirley Angela Anna Brenda Pamela Nicole
Ruth Katherine Virginia Christine Helen Debra Rachel Carolyn Janet Maria Catherine Frances Ann Alice Jean Gloria
Teresa Evelyn Martha Siobhan Niamh Aoife Roisin Fiona Morag Catriona Eilidh Rhiannon Angharad Bronwyn Philippa
Imogen Harriet Beatrice Henrietta Guadalupe Esperanza Consuelo Marisol Xiomara Yolanda Ximena Lucia Pilar Rocio
Milagros Dolores Soledad Mercedes Inmaculada Fatima Aisha Khadija Zainab Noor Layla Samira Yasmin Hafsa Mariam
Rania Soraya Leila Shirin Parisa Nasrin Mei Ling Xiu Yan Hui Yuki Sakura Haruka Michiko Keiko Ayumi Soo-jin Min-ji
Hye-won Eun-ji Thuy Linh Huong Ngoc Lan Priya Ananya Lakshmi Deepika Sunita Meera Kavita Padma Indira Gurpreet
Harpreet Jaswinder Simran Nasreen Shabnam Rukhsana Olga Svetlana Natalia Tatiana Irina Ludmila Agnieszka Malgorzata
Katarzyna Zofia Jadwiga Bozena Milena Dragana Jelena Snezana Ingrid Astrid Sigrid Solveig Gudrun Birgitta Annika
Maarit Aino Kirsten Mette Hanneke Saskia Femke Marijke Anneliese Chiamaka Ngozi Adaeze Folasade Temitope Abimbola
Wanjiru Akosua Abena Efua Thandiwe Nomvula Zanele Mwajuma Halima Aminata Giulia Francesca Chiara Antonella
Graziella Despina Eleni Kalliope Vasiliki Chantal Mireille Genevieve Solange Odile Thandie Leonora Wilhelmina
Cordelia Philomena Hortense Euphemia Winifred Mildred Agatha Ottilie Prudence Millicent Perpetua Zelda Latoya
Keisha Shaniqua Tanisha Ebony Lakeisha Monique Jamila Destiny Brianna Kayla Mackenzie Taylor Jordan Skylar Nevaeh
""")

MEN = words("""
James Robert John Michael David William Richard Joseph Thomas Charles Christopher Daniel Matthew Anthony Donald
Steven Andrew Kenneth George Joshua Kevin Brian Edward Ronald Timothy Jason Jeffrey Ryan Gary Jacob Nicholas Eric
Stephen Jonathan Larry Justin Scott Brandon Frank Benjamin Gregory Samuel Raymond Patrick Alexander Jack Dennis
Jerry Walter Harold Gerald Seamus Padraig Cormac Declan Eoin Fergus Hamish Angus Callum Alasdair Gareth Rhys Emrys
Dafydd Nigel Clive Rupert Giles Jose Juan Carlos Luis Jorge Pedro Alejandro Rogelio Ignacio Heriberto Efrain
Eusebio Santiago Joaquin Gonzalo Refugio Mohammed Ahmed Omar Yusuf Ibrahim Khalid Tariq Hassan Bilal Hamza Farid
Reza Dariush Behrouz Arash Kourosh Wei Jun Hao Feng Jian Hiroshi Takeshi Kenji Satoshi Daiki Min-jun Sung-ho
Dong-hyun Tuan Minh Duc Quang Hieu Raj Anil Sanjay Vikram Arjun Suresh Ramesh Venkat Krishnan Harjit Balwinder
Manpreet Imran Faisal Zahid Nadeem Ivan Sergei Dmitri Vladimir Boris Mikhail Wojciech Zbigniew Krzysztof Tadeusz
Jaroslaw Miroslav Zoran Goran Nemanja Branko Lars Sven Bjorn Gunnar Anders Mikkel Jesper Pekka Jukka Matti Pieter
Joost Maarten Willem Dieter Heinrich Chukwuemeka Obinna Ikenna Oluwaseun Babatunde Kwame Kofi Kwabena Thabo Sipho
Mandla Kamau Ochieng Mamadou Ousmane Tendai Giovanni Salvatore Vincenzo Luca Stavros Kostas Theodoros Aristides
Jean-Luc Etienne Gaston Olivier Thierry Baptiste Elio Remo Quentin Gilbert Cornelius Ambrose Barnaby Ignatius
Thaddeus Percival Algernon Mortimer Leopold Horatio Ezekiel Obadiah Lemuel Silas DeShawn Jamal Tyrone Darnell
Marquis Terrence Malik Tyrell Jayden Brayden Aiden Logan Hunter Chase Colton Tanner
""")

#: First names that are also ordinary words.
WORD_WOMEN = words("""
Rose May Grace Faith Hope Joy Dot Ivy Violet Dawn Summer Penny Daisy Ruby Pearl Amber Robin Iris Olive Angel Jade
Sandy Heather Holly Autumn April June Precious Melody Charity Patience Constance Mercy Star Ginger Sage Willow
Misty Fern Hazel Honey Crystal Charm Sky Bonnie Summer Rain Star Coral Clover Poppy Lily Eve Sue Pat Bee
""")
WORD_MEN = words("""
Will Mark Bill Rich Art Grant Drew Jack Ray Gene Rusty Dean Miles Chip Rob Nick Guy Clay Cliff Dale Glen Chance
Pierce Colt Bud Buck Skip Buddy Major Duke Earl Christian Basil Josh Don Curt Stone Reed Lance Victor Sonny Junior
Prince August Sterling Forest Brook Wade Ward Judge Bishop Marsh Case Ford Tad
""")

SURNAMES = words("""
Smith Johnson Williams Jones Davis Miller Wilson Moore Taylor Anderson Thomas Jackson Harris Martin Thompson Garcia
Martinez Robinson Clark Rodriguez Lewis Walker Allen Wright Lopez Scott Adams Nelson Carter Mitchell Perez Roberts
Turner Phillips Campbell Parker Evans Edwards Collins Stewart Sanchez Morris Rogers Morgan Murphy Bailey Rivera
Cooper Richardson Howard Torres Peterson Ramirez Watson Brooks Kelly Sanders Bennett Barnes Ross Henderson Coleman
Jenkins Perry Powell Patterson Hughes Flores Washington Butler Simmons Foster Gonzales Bryant Russell Griffin Diaz
Hayes Myers Hamilton Graham Sullivan Wallace Castellano Delacroix Montenegro Villanueva Echeverria Zubizarreta
Altamirano Covarrubias Sepulveda Urquiza Quintanilla Bustamante Nakamura Takahashi Yamamoto Matsumoto Ishikawa
Fujimoto Hasegawa Kobayashi Nguyen Tran Pham Huynh Truong Vuong Dinh Kim Park Choi Jeong Kang Yoon Chen Wang Zhang
Huang Zhao Zhou Liang Ouyang Szeto Kwok Cheung Leung Yip Wong Chua Teo Patel Sharma Gupta Krishnamurthy
Venkataraman Subramanian Chaudhuri Mukherjee Banerjee Chatterjee Iyer Nair Menon Reddy Singh Kaur Dhillon Gill
Sandhu Bhatt Desai Joshi Khan Hussain Malik Qureshi Siddiqui Ahmad Chowdhury Rahman Begum Akhtar Farooqui Mirza
Ivanov Petrov Sokolov Kuznetsov Volkov Kowalski Nowak Wisniewski Wojciechowski Zielinski Szczepanski Jankowska
Kaminska Dvorak Novotny Horvat Kovacevic Jovanovic Petrovic Stojanovic Milosevic Horvath Szabo Nemeth Popescu
Ionescu Dumitrescu Bajrami Hoxha Gjoka Berisha Muller Schneider Fischer Weber Schulz Hoffmann Koch Bauer Richter
Krause Zimmermann Hartmann Lehmann Schwarzkopf Obermeyer Andersson Johansson Lindqvist Bergstrom Soderberg Nygaard
Halvorsen Thorvaldsen Jorgensen Rasmussen Virtanen Korhonen Makinen Laine Jansen Bakker Visser Dijkstra Hoekstra
Postma Vermeulen Claes Peeters Goossens Dubois Lefebvre Moreau Fournier Girard Beaumont Rossi Ferrari Esposito
Ricci Colombo Bianchi Marchetti Giordano Lombardi Papadopoulos Karagiannis Theodorakis Stavropoulos Yilmaz Demir
Kaya Okafor Adeyemi Okonkwo Eze Nwosu Olawale Balogun Adebayo Mensah Owusu Boateng Asante Mwangi Njoroge Kiprotich
Otieno Dlamini Nkosi Mokoena Ndlovu Haddad Khoury Nasser Mansour Abdullah Suleiman Farouk Hamdan Zahir Ghorbani
Hosseini Tehrani Moradi Rostami Azizi Karimi Fairweather Hollingsworth Thistlethwaite Ramsbottom Higginbotham
Postlethwaite Cholmondeley Featherstone Winterbottom Blenkinsop Shuttleworth Entwistle Abernathy Buchanan Farquhar
Galbraith Urquhart Carmichael Llewellyn Prothero Gwynne Pritchard Trelawney Penhaligon Trevithick Fitch Moss Crisp
Lister Hartley Townsend Garvey Loomis Pruitt Yancey Tuttle Stubbs Peebles Crabtree Dinkins Eubanks Fontenot Guidry
Hebert Lafleur Beauchamp Thibodeaux Begaye Yazzie Tsosie Whitehorse Redcloud Kealoha Kamaka Tuiasosopo Faleafa
Taufa Santos Reyes Bautista Macapagal Cohen Levy Goldstein Rosenthal Feldman Abramowitz Shapiro Birnbaum Mandelbaum
Weizmann Pereira Oliveira Ferreira Carvalho Figueiredo
""")

#: Surnames that are also ordinary words, some of them words of medicine.
WORD_SURNAMES = words("""
Long Young Baker Short White Black Green Brown Gray Cook Day Price Bell Banks Woods Rivers Field Hill Stone Rice
Fish Bird Wolf Fox Hart Head Foote Hand Blood Bone Payne Coffin Savage Strong Small Little Best Wise Moody Hardy
Swift Sharp Blunt Smart Good Love Pope Bishop King Prince Knight Abbott Church Temple Parish Hall House Mann Child
Friend Case Cash Marsh Lake Pool Brook Ford Bridges Park Street Lane Way Major Sargent Page Ward Law Judge Chance
Early Weeks Winter Summers March Friday Noon Root Salt Frost Snow Waters Storm Cloud Finger Legg Chin Shoulder
Cross Crow Drew Flowers Gates Glass Gold Silver Steel Carpenter Mason Porter Potter Shepherd Singer Weaver Wheeler
Hunter Fisher Farmer Gardner Barber Butcher Sadler Archer Bowman Nurse Pain Paine Power Powers Rush Self Sides
Speed Spring Stiff Still Sweet Tidy True Underhill Vice Wall Wild Wood Worth Yard Joy Grace Lamb
""")

PARTICLE_SURNAMES = (
    """
O'Brien|O'Connor|O'Sullivan|O'Shaughnessy|O'Dowd|D'Angelo|D'Souza|D'Amico|N'Diaye|McDonald|McAllister|McGillicuddy|McNamara|MacLeod
MacDougall|Mac Giolla|van der Berg|van den Heuvel|van Dijk|Van Buren|Van Der Meer|de la Cruz|De La Rosa|de Souza|de Groot|De Luca
Di Giovanni|DiMaggio|DeWitt|LaRue|La Fontaine|Le Roux|du Plessis|Du Bois|von Trapp|von Hohenberg|zu Salm|ten Brink|ter Horst|Saint-Clair
St. Clair|St. John|al-Rashid|Al-Masri|el-Sayed|El Amrani|Abu Bakr|ibn Saleh|bin Laith|Ben-David|Bar-On|dos Santos|da Silva|Da Costa
Fitz-Gerald|FitzPatrick|Ap Rhys|Ó Briain|Nuñez|Peña|Müller|Jürgens|Gößmann|Lefèvre|Çelik|Yıldız|Øster|Åkesson|Łukasik|Šimek|Novák|Dvořák
""".replace("\n", "|")
    .strip("|")
    .split("|")
)

DIMINUTIVES = {
    "Virginia": "Ginny Ginger Dot", "Margaret": "Peggy Maggie Meg Daisy", "Elizabeth": "Betty Liz Beth Libby", "Katherine": "Kate Kathy Kit",
    "William": "Bill Billy Will", "Robert": "Bob Bobby Rob", "Richard": "Dick Rick Rich", "James": "Jim Jimmy Jamie", "John": "Jack Johnny",
    "Michael": "Mike Mick Mickey", "Charles": "Charlie Chuck Chip", "Joseph": "Joe Joey", "Thomas": "Tom Tommy", "Edward": "Ted Ned Eddie",
    "Dorothy": "Dot Dottie", "Susan": "Sue Susie", "Patricia": "Pat Patty Trish", "Barbara": "Barb Babs", "Deborah": "Deb Debbie",
    "Samuel": "Sam Sammy", "Benjamin": "Ben Benny", "Anthony": "Tony", "Daniel": "Dan Danny", "Gilbert": "Gil Bert", "Alejandro": "Alex Ale",
    "Guadalupe": "Lupe Lupita", "Francisco": "Paco Pancho", "Ignacio": "Nacho", "Dolores": "Lola", "Svetlana": "Sveta", "Dmitri": "Dima",
    "Theodoros": "Theo", "Philippa": "Pippa Pip", "Henrietta": "Hettie Etta", "Winifred": "Winnie Freddie", "Leonora": "Nora Leo", "Andrew": "Andy Drew",
}  # fmt: skip
PET_NAMES = words("""
Buddy Sis Bubba Skip Chip Bunny Ace Red Tiny Junior Sonny Duke Nana Pop Mimi Gigi Bibi Dodo Kiki Coco Bo Zee Tex
Mac Mags Trev Shaz Baz Gaz Daz Kev Tel Del Jez Lou Jojo Bev Val Babs Nell Peg Dilly Moll Fitz Smithy Jonesy Sully Murph
Tink Pip Roo Bear Bean Boo Birdie Teddy Fizz Spud Ginge Lofty Doc Chalky Dusty Nobby Taff Paddy Jock Lefty Slim Stretch Shorty
Tito Chuy Nando Beto Pepe Nena Chela Mina Lulu Zuzu Fifi Dede Tata Kuku Babu Chintu Pinky Guddu Ollie Archie Alfie Izzy Lottie
""")

ONSETS = words("""
B Br C Ch Cr D Dr F Fl G Gr H J K Kl Kr L M N P Pr R S Sch Sh Sk St T Th Tr V W Y Z Zh Qu
""")
VOWELS = words("""
a e i o u ai ea ei ie oo ou au y
""")
CODAS = words("""
b ck d f g l ll m n nd ng nt p r rd rk rn rt s sk st t th v x z
""")
ENDINGS = words("""
er ley ton son sen ski ska ov ova ez es ini elli ault eau wick ham worth by man mann stein berg dottir idis akis
enko yan ani awa ura uchi wala oglu ulu eke ani
""")
FIRST_ENDINGS = words("""
a ie y o e ah elle ine ika isha ola umi iya ey ian iel ert win wyn esh it an on us ek ka na ra
""")

#: Relative sizes of the three vocabularies in sixteenths: training, calibration, test.
SHARES = (9, 11)
SPLITS = ("train", "calibrate", "test")


def vocabulary(word: str) -> str:
    """Return which split a word belongs to; the same in every run."""
    bucket = zlib.crc32(word.encode()) % 16
    return SPLITS[0] if bucket < SHARES[0] else SPLITS[1] if bucket < SHARES[1] else SPLITS[2]


def for_split(words: list[str], split: str) -> tuple[str, ...]:
    """Return the words a split may use: its own, and outside training those of training too."""
    own = tuple(w for w in dict.fromkeys(words) if vocabulary(w) == split)
    if split == SPLITS[0]:
        return own
    seen = tuple(w for w in dict.fromkeys(words) if vocabulary(w) == SPLITS[0])
    # As many drawn from words never seen in training as from those seen.
    return own * max(1, round(len(seen) / max(1, len(own)))) + seen


def invent_surname(rng: Random) -> str:
    """Return a pronounceable surname that is in no list."""
    name = rng.choice(ONSETS) + rng.choice(VOWELS) + rng.choice(CODAS)
    if rng.random() < 0.35:
        name += rng.choice(VOWELS[:5]) + rng.choice(CODAS[:8])
    return name + (rng.choice(ENDINGS) if rng.random() < 0.75 else rng.choice(VOWELS[:5]))


def invent_first(rng: Random) -> str:
    """Return a pronounceable first name that is in no list."""
    name = rng.choice(ONSETS) + rng.choice(VOWELS[:5]) + rng.choice(CODAS[:8])
    if rng.random() < 0.5:
        name += rng.choice(VOWELS[:5]) + rng.choice(CODAS[:8])
    return name + rng.choice(FIRST_ENDINGS)
