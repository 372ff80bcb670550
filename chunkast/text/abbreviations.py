"""Where sentencex ends a sentence although it goes on, in languages that it knows less well.

Of French, Polish and Portuguese it knows few abbreviations, and no table is complete. In the languages
below, and in no other, a full stop ends no sentence

- before a small letter, and where a letter, a digit or a hyphen follows it directly;
- after an abbreviation that a name or a thing follows, such as a title;
- before a number, after an abbreviation that has one, such as that of a page;
- after a capital letter alone, an initial (in German sentencex knows them);
- in German after a number of at most two digits, if an article or preposition stands before it.
"""

from __future__ import annotations

import re
from typing import Final

from chunkast.text.white_space import WHITE_SPACE

__all__ = ("MENDED", "goes_on")

# What names and things follow, such as a title.
_BEFORE_NAMES: Final = {
    "de": "abt allg bd bes betr bspw bundesstr bzgl bzw ca dgl dipl dr ehem einschl evtl exkl "
    "fa fr frl gebr gegr gem ggf ggü hl hr hrn hrsg inkl insb jh jhd lt mind oec phil med "
    "jur rer nat pfr prof rd sog st staatl std tägl tel urspr verh vgl voraussichtl vorm "
    "wg zit zus zzgl",
    "es": "admón aprox arq av avda cf cfr cía comp coord cta d depto dir dña dr dra dras dres "
    "ed eds ej excma excmo fca fdo gob gral hnos ilma ilmo ing lic máx mín mons mtro pbro "
    "pdta pdte prof profa prov pza rda rdo rev rvda rvdo sig sr sra sras sres srta sta "
    "sto tel ud uds vda vid",
    "fr": "adj apr av bd boul cap cf cie col coll comm dép dépt dir dr éd éds env exempl gén "
    "hab impr intr lieut mad max me mgr mlle mlles mm mme mmes mons obs ouvr prof prov "
    "réf resp rte st ste sté suiv supp tél trad univ v.-prés",
    "it": "arch avv ca cav cf cfr co coll comm dir dott dott.ssa dr ed edd egr es f.lli gen "
    "gent geom gov ill illmo ing lett mag max mons on p.zza prof prof.ssa prov rag rev "
    "rif segg sig sig.na sig.ra sigg spett ss tel tit trad v.le",
    "nl": "afd bijv burg ca cfr dhr dr drs ds enz evt excl fa fam gebr gen incl ing ir jhr jkvr "
    "jl kol mej mevr mgr max min mr mw nl oorspr prof red resp secr sint st tel temp uitg "
    "vgl vlg voorz weth zgn",
    "pl": "abp al bp dn doc dr ds gen gm hab hr im inż jez kard kier kol kpt ks lek lic m.in "
    "maks mec mgr min mjr np ob ok os pil pl płk por porucz pow ppłk prof prok red rtm "
    "sierż św tel tow tzn tzw ul wg woj wyd zob",
    "pt": "alm ap apart aprox arq av bel cap cel cf cia com comend cons coord dep depto des dir "
    "dr dra dras drs ed eds emb eng enga exa exma exmo gal gen gov ilma ilmo ind máx min "
    "mín mons mr obs org pç pe pr prof profa profas profs r rep res rev sarg sen sr sra "
    "sras srs srta sta sto tel ten trad trav univ vd",
    "ru": "акад арх архиеп архим бульв ген д-р дер доц зав зам засл изд им инж исп канд напр "
    "наб обл ок оз отв пер пл полк пос просп проф пр ред св см соавт ср ст ул чл",
    "uk": "акад арх бл бульв вул ген див доц зав заст ім інж ін канд напр наб обл ок оз отв пл "
    "пос просп проф пров ред св ст чл",
}
# What numbers follow, such as that of a page.
_BEFORE_NUMBERS: Final = {
    "de": "abb abs anh anl anm art aufl bl fig hs kap nr nrn pos rn rz s sp str tab taf tz v z "
    "ziff",
    "es": "art arts cap caps col esc fig figs fol lám n núm núms p pág págs párr pp s sec sigl "
    "t tít v vol vols",
    "fr": "al art chap ch doc ex fasc fig figs fol h l liv n no nos p par part pl pp s sect t "
    "tabl v vol vols",
    "it": "all art artt cap capp cfr cod col comma d.l d.lgs d.m d.p.r fasc fig figg fol l lib "
    "n nn nr p pag pagg par pp r.d sec sez t tab tav vol voll",
    "nl": "aant afb art bijl blz deel fig hfst hoofdst kap lid n nr nrs p par pp r tab vs vol",
    "pl": "art cz godz lit nr par pkt poz r rozdz ryc rys s sygn t tab tabl tom ust w wyd zał z",
    "pt": "al art arts cap caps cf col fasc fig figs fl fls inc n nº núm obs p pág págs par "
    "parág pp s séc séc sécs t tab tít v vol vols",
    "ru": "абз в вып гл д илл кв кн корп л лит н п подп прил прим разд рис с см ст стр сх т "
    "табл тел ч",
    "uk": "абз вип гл кв кн корп л мал п підп прим рис розд с см ст стор сх т табл тел ч",
}
MENDED: Final = frozenset(_BEFORE_NAMES)
_TABLES: Final = {
    name: (frozenset(_BEFORE_NAMES[name].split()), frozenset(_BEFORE_NUMBERS[name].split()))
    for name in MENDED
}
_LAST_WORD: Final = re.compile(rf"(?:\A|[{WHITE_SPACE}\W])([\w.-]*\w)\.[{WHITE_SPACE}]*\Z")
_NUMBER: Final = re.compile(r"\d|[IVXLCDM]+\b")
_ORDINAL: Final = re.compile(
    rf"(?i)\b(?:ab|am|auf|bis|das|dem|den|der|des|die|eine?[mnrs]?|ihre?[mnrs]?|im|ins?|je|jede[mnrs]?|mit|"
    rf"nach|seine?[mnrs]?|seit|und|vom|von|vor|zum|zur)[{WHITE_SPACE}]+\d\d?\.[{WHITE_SPACE}]*\Z"
)
# Characters before the place that are looked at.
_REACH: Final = 40


def goes_on(text: str, at: int, language: str) -> bool:
    """Whether the sentence goes on at ``at``, where sentencex begins the next; one of ``MENDED``."""
    before = text[max(at - _REACH, 0) : at]
    if not before.rstrip(WHITE_SPACE).endswith("."):
        return False
    next_ = text[at : at + 1]
    if next_.islower() or (before.endswith(".") and (next_.isalnum() or next_ in "ºª-")):
        return True
    found = _LAST_WORD.search(before)
    word = found[1] if found else ""
    names, numbers = _TABLES[language]
    if word.lower() in numbers and _NUMBER.match(text, at):
        return True
    if word.lower() in names:
        return True
    if language == "de":
        return _ORDINAL.search(before) is not None
    initial = word.rpartition(".-")[2]
    return len(initial) == 1 and initial.isupper()
