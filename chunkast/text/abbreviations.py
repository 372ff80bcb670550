"""Where sentencex ends a sentence although it goes on, in languages that it knows less well.

Of French, Polish and Portuguese it knows few abbreviations, and no table is complete. In the languages
below, and in no other, a full stop ends no sentence

- before a number, after an abbreviation that has one, such as that of a page or month;
- after an abbreviation that a name or a thing follows, such as a title;
- and in all of them but English, where names of programs are written small and initials are known,
  before a small letter or a year in brackets, and where a letter, digit, hyphen or comma follows it
  directly;
- after a capital letter alone, an initial (in German sentencex knows them);
- in German after a number of at most two digits, if an article or preposition stands before it, or
  what is often numbered after it, such as a month or century.

Nor does any mark before a dash with a small letter, which goes on after what somebody said.
"""

from __future__ import annotations

import re
from typing import Final

from chunkast.text.white_space import WHITE_SPACE

__all__ = ("MENDED", "goes_on")

# What names and things follow, such as a title.
_BEFORE_NAMES: Final = {
    "de": "abg abt allg bd bes betr bhf bspw bundesstr bzgl bzw ca dgl dipl dr ehem einschl evtl "
    "exkl fa fr frl gebr gegr geh gem ggf ggü hd hl hptm hr hrn hrsg ing inkl insb jh jhd "
    "jur lt med mind nat nördl oec pfr phil prof rd rer sog st staatl std südl tel tägl "
    "urspr verh vgl vit voraussichtl vorm westl wg zit zus zzgl östl",
    "en": "ft p.s",
    "es": "admón aprox arq av avda cf cfr cnel comp coord cta cía d depto dip dir dr dra dras "
    "dres dña ed eds ej excma excmo fca fdo gob gral hnos ilma ilmo ing lic mons mtro máx "
    "mín pbro pdta pdte prof profa prov pza rda rdo rev rvda rvdo sig sr sra sras sres srta "
    "sta sto tel ud uds vda vid vit",
    "fr": "adj ap apr av bd boul cap cf cie col coll comm dir dr dép dépt env exempl gén hab impr "
    "intr lieut mad max me mgr mlle mlles mm mme mmes mons obs ouvr prof prov resp rte réf "
    "st ste sté suiv supp trad tél univ v.-prés vit éd éds",
    "it": "arch avv ca cav cf cfr co coll comm dir dott dott.ssa dr ed edd egr es f.lli gen gent "
    "geom gov ill illmo ing lett mag max mons on p.zza prof prof.ssa prov rag rev rif segg "
    "sig sig.na sig.ra sigg spett ss tel tit trad v.le vit",
    "nl": "afd bijv burg ca cfr d.w.z dhr dr drs ds enz evt excl fa fam gebr gen i.v.m incl ing "
    "ir jhr jkvr jl kapt kol m.a.w m.b.t m.n max mej mevr mgr min mr mw n.a.v nl o.a o.g.v "
    "oorspr prof red resp secr sen sint st t.a.v t.o.v tel temp uitg vgl vit vlg voorz weth "
    "zgn",
    "pl": "abp al bp dn doc dr ds gen gm hab hr im inst inż jez kard kier kol kpt ks lek lic m.in "
    "maks mec mgr min mjr np ob ok os p pil pl podst por porucz pos pow ppłk prof prok ps "
    "płk red rtm sierż sz tel temp tow tzn tzw ul wg wit woj wyd zob św",
    "pt": "alm ap apart aprox arq av bel cap cel cf cia com comend cons coord dep depto des dir "
    "dr dra dras drs ed eds emb eng enga exa exma exmo gal gen gov ilma ilmo ind min mons "
    "mr máx mín obs org pe pr prof profa profas profs pç r rep res rev sarg sen sr sra sras "
    "srs srta sta sto tel ten trad trav univ vd vit",
    "ru": "акад арх архиеп архим ауд бульв вит ген д-р дер доц зав зам засл изд им инж исп канд "
    "кап наб напр обл оз ок отв пер пл полк пос пр просп проф ред св см соавт ср ст ув ул "
    "чл",
    "uk": "акад арх бл бульв вул ген див доц зав заст ім інж ін канд напр наб обл ок оз отв пл "
    "пос просп проф пров ред св ст чл",
}
# What numbers follow, such as that of a page.
_BEFORE_NUMBERS: Final = {
    "de": "abb abs anh anl anm apr art aufl aug bl dez feb fig hs jan jul jun kap mär nov nr nrn "
    "okt pos rn rz s sep sept sp str tab taf tz v z ziff",
    "en": "app approx apt art arts ca ch chap cl eq eqs ex par para paras pt vers vol vols",
    "es": "abr ago art arts cap caps col dic ene esc feb fig figs fol jul jun lám n nov núm núms "
    "oct p pp pág págs párr s sec sept sigl t tít v vol vols",
    "fr": "al art avr bât ch chap doc déc ex fasc fig figs fol févr h janv juil l liv n no nos "
    "nov oct p par part pl pp s sect sept t tabl v vol vols",
    "it": "all apr art artt c cap capp cfr cod col comma d.l d.lgs d.m d.p.r dic fasc febbr febr "
    "fig figg fol genn giu l lib lugl n nn nov nr ott p pag pagg par pp r.d sec sett sez t "
    "tab tav vers vol voll",
    "nl": "aant afb apr apt art aug bijl blz dec deel feb febr fig hfst hoofdst jan jul jun kap "
    "lid n nov nr nrs okt p par pp r sep sept tab vol vs",
    "pl": "art cz czerw godz grudz kwiec lip list listop lit luty m mar nr par paźdz pkt poz r "
    "rozdz ryc rys s sierp stycz sygn t tab tabl tom ust w wer wrz wrzes wyd z zał",
    "pt": "abr ago al apt apto art arts cap caps cf col dez fasc fev fig figs fl fls inc jan jul "
    "jun mai n nov nº núm obs out p par parág pp pág págs s set seç séc sécs t tab tít v "
    "vol vols",
    "ru": "абз авг апр в вер вып гл д дек илл июл июн кв кн корп л лит март н нояб окт п подп "
    "прил прим разд рис с сент см ср ст стр сх т табл тел февр ч янв",
    "uk": "абз бер вер верес вип гл груд жовт кв квіт кн корп л лип листоп лют мал п прим підп "
    "рис розд с серп см ср ст стор сх січ т табл тел трав ч черв",
}
MENDED: Final = frozenset(_BEFORE_NAMES)
_TABLES: Final = {
    name: (frozenset(_BEFORE_NAMES[name].split()), frozenset(_BEFORE_NUMBERS[name].split()))
    for name in MENDED
}
_LAST_WORD: Final = re.compile(rf"(?:\A|[{WHITE_SPACE}\W])([\w.-]*\w)\.[{WHITE_SPACE}]*\Z")
_AFTER_SPEECH: Final = re.compile(rf"[—–][{WHITE_SPACE}]?([^\W\d_])")
_YEAR: Final = re.compile(r"\([12]\d{3}\b")
_NUMBER: Final = re.compile(r"\d|[IVXLCDM]+\b")
_AFTER_ORDINAL: Final = re.compile(
    r"(?:Aufl|Etage|Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|"
    r"Dezember|Jahrhundert|Jahrtausend|Jh|Klasse|Lebensjahr|Quartal|Semester|Stock)"
)
_BARE_ORDINAL: Final = re.compile(rf"\b\d\d?\.[{WHITE_SPACE}]*\Z")
_ORDINAL: Final = re.compile(
    rf"(?i)\b(?:ab|am|auf|bis|das|dem|den|der|des|die|eine?[mnrs]?|ihre?[mnrs]?|im|ins?|je|jede[mnrs]?|mit|"
    rf"nach|seine?[mnrs]?|seit|und|vom|von|vor|zum|zur)[{WHITE_SPACE}]+\d\d?\.[{WHITE_SPACE}]*\Z"
)
# Characters before the place that are looked at.
_REACH: Final = 40


def goes_on(text: str, at: int, language: str) -> bool:
    """Whether the sentence goes on at ``at``, where sentencex begins the next; one of ``MENDED``."""
    said = _AFTER_SPEECH.match(text, at)
    if said and said[1].islower():
        return True
    before = text[max(at - _REACH, 0) : at]
    if not before.rstrip(WHITE_SPACE).endswith("."):
        return False
    found = _LAST_WORD.search(before)
    word = found[1] if found else ""
    forms = {word.lower(), word.rpartition("-")[2].lower()}
    names, numbers = _TABLES[language]
    if forms & names or (forms & numbers and _NUMBER.match(text, at)):
        return True
    if language == "en":
        return False
    next_ = text[at : at + 1]
    joined = before.endswith(".") and (next_.isalnum() or next_ in "ºª-,")
    if joined or next_.islower() or _YEAR.match(text, at):
        return True
    if language == "de":
        numbered = _AFTER_ORDINAL.match(text, at) and _BARE_ORDINAL.search(before)
        return numbered is not None or _ORDINAL.search(before) is not None
    initial = word.rpartition(".-")[2]
    return len(initial) == 1 and initial.isupper()
