"""German: the words of cancellation terms."""

from __future__ import annotations

from policies.fees.candidate import Language, PercentBase, ReferenceKind, TimeUnit
from policies.fees.german_numbers import number_words
from policies.fees.lexicon import (
    Comparator,
    Construct,
    Currency,
    DayOf,
    Lexicon,
    Meaning,
    Position,
    Side,
    Sign,
    phrase_table,
)

_ROWS: tuple[tuple[Meaning, str], ...] = (
    (Sign.ARTICLE, "der|die|das|den|dem|des|ihrer|ihres|unserer"),
    (
        Sign.FILLER,
        (
            "ist|sind|ein|eine|einen|einer|bei|im|in|am|an|für|wir|sie|wenn|mit|wird|werden"
            "|beträgt|betragen|fällig|fallen"
            "|stornierung|stornierungen|stornogebühr|stornogebühren|stornokosten|stornieren"
            "|storno|rücktritt|rücktritte"
            "|gebühr|gebühren|kosten|pauschale|entschädigung|absage|stornopauschale|rücktrittsgebühr|auf"
        ),
    ),
    (TimeUnit.DAY, "tag|tage|tagen|tages|kalendertag|kalendertage|kalendertagen"),
    (TimeUnit.WEEK, "woche|wochen"),
    (Sign.PERCENT, "%|prozent|v . h .|vom hundert"),
    (Sign.FROM, "ab|ab einschließlich"),
    (Sign.RANGE_START, "vom|von"),
    (Sign.UPTO, "bis|bis zu|bis zum|bis einschließlich|bis einschließlich zum|bis inklusive"),
    (Sign.TO, "-"),
    (Sign.BETWEEN, "zwischen"),
    (Sign.AND, "und|aber|,|jedoch"),
    (Sign.INCLUSIVE, "einschließlich|jeweils einschließlich|inklusive|jeweils inklusive|beide einschließlich"),
    (Sign.BEFORE, "vor"),
    (Sign.FROM_BOOKING, "ab buchung|ab dem tag der buchung|von der buchung an|ab der buchung"),
    (Sign.REMAINDER, "danach|sonst|andernfalls|später|im übrigen|in allen anderen fällen|früher|davor|ansonsten"),
    (Comparator(Side.END, True), "mindestens|spätestens|nicht weniger als|nicht später als|wenigstens"),
    (Comparator(Side.END, False), "mehr als|früher als|über"),
    (Comparator(Side.START, False), "weniger als|später als|unter"),
    (Comparator(Side.START, True), "höchstens|nicht mehr als|innerhalb von"),
    (Comparator(Side.START, True), "innerhalb der|nicht früher als|frühestens"),
    (Comparator(Side.END, True, Position.AFTER), "oder mehr|und mehr|oder länger|oder früher|oder eher"),
    (Comparator(Side.START, True, Position.AFTER), "oder weniger|und weniger|oder später|oder kürzer"),
    (
        ReferenceKind.DEPARTURE,
        "abreise|abfahrt|abflug|reisebeginn|reiseantritt|reisestart|beginn der reise|antritt der reise",
    ),
    (ReferenceKind.DEPARTURE, "abreisedatum|tourbeginn|fahrtbeginn|tourstart"),
    (ReferenceKind.ARRIVAL, "anreise|ankunft|anreisedatum|anreisetermin|check - in"),
    (ReferenceKind.EVENT, "veranstaltung|veranstaltungsbeginn|kursbeginn|beginn der veranstaltung|beginn des kurses"),
    (ReferenceKind.EVENT, "seminarbeginn|beginn des seminars|kursstart|vorstellung|veranstaltungstermin"),
    (DayOf(ReferenceKind.DEPARTURE), "abreisetag|tag der abreise"),
    (DayOf(ReferenceKind.DEPARTURE), "tag des reisebeginns|tag des reiseantritts|reisetag"),
    (DayOf(ReferenceKind.ARRIVAL), "anreisetag|tag der anreise"),
    (DayOf(ReferenceKind.EVENT), "veranstaltungstag|tag der veranstaltung|tag des kurses|kurstag|seminartag"),
    (DayOf(ReferenceKind.DEPARTURE, 1), "vortag der abreise"),
    (DayOf(ReferenceKind.ARRIVAL, 1), "vortag der anreise"),
    (DayOf(ReferenceKind.EVENT, 1), "vortag der veranstaltung"),
    (
        PercentBase.PRICE,
        (
            "reisepreis|reisepreises|gesamtpreis|gesamtpreises|preis|preises|tourpreis"
            "|tourpreises|kursgebühr|kurspreis"
            "|kurspreises|mietpreis|mietpreises|teilnahmegebühr|übernachtungspreis|übernachtungspreises|fahrpreis"
            "|fahrpreises|ticketpreis|ticketpreises|seminarpreis|seminarpreises|buchungspreis|buchungspreises"
        ),
    ),
    (
        PercentBase.PAID,
        (
            "gezahlten betrags|gezahlten betrages|gezahlter betrag|bezahlten betrags"
            "|bezahlten betrages|geleisteten zahlung"
            "|geleisteten zahlungen|geleistete zahlung|gezahlten preises|gezahlten summe"
        ),
    ),
    (Sign.FREE, "kostenfrei|kostenlos|gebührenfrei|keine gebühr|keine gebühren|keine kosten|keine stornogebühr"),
    (Sign.FREE, "keine stornogebühren|ohne gebühr|ohne kosten"),
    (Sign.FREE, "volle erstattung|vollständige erstattung|unentgeltlich"),
    (Sign.FULL, "keine erstattung|keine rückerstattung|nicht erstattungsfähig|nicht erstattbar|keinerlei erstattung"),
    (Currency("EUR"), "eur|euro|€"),
    (Currency("USD"), "usd|us - dollar|dollar|$|us$"),
    (Currency("GBP"), "gbp|£|pfund"),
    (Currency("CHF"), "chf|franken|sfr"),
    (Currency("JPY"), "jpy|¥|yen"),
    (Currency("CAD"), "cad|ca$|c$"),
    (Currency("AUD"), "aud|a$|au$"),
    (Currency("NZD"), "nzd|nz$"),
    (
        Construct.VAGUE,
        (
            "kann ... anfallen|können ... anfallen|kann ... erhoben|können ... erhoben"
            "|kann ... berechnet|können ... berechnet"
            "|kann ... einbehalten|können ... einbehalten|kann ... verlangt|können ... verlangt|kann eine gebühr"
            "|können gebühren|könnte*|ermessen*|angemessen*|in der regel|grundsätzlich"
            "|üblicherweise|üblich*|gegebenenfalls"
            "|ggf|eventuell*|circa|ca|zirka|etwa|ungefähr|rund|annähernd|je nach|abhängig"
            "|variier*|variabel|individuell*"
            "|einzelfall|einzelfalles|auf anfrage|behalten wir uns|behält sich|vorbehalt*"
            "|vorbehaltlich|unter umständen"
            "|billig*|möglich*|möglicherweise|meist*|normalerweise|teilweise|rechtzeitig"
            "|einige|mehrere|nach absprache"
            "|nach vereinbarung|tatsächlich*|anteilig*|geschätzt*|branchenüblich*"
        ),
    ),
    (
        Construct.ALTERNATIVES,
        "je nachdem|höhere*|niedrigere*|größere*|geringere*|der höhere betrag|wahlweise|günstigere*",
    ),
    (
        Construct.BOUNDED_FEE,
        "minimum|maximum|min|max|mind|maximal*|minimal*|mindestgebühr*|höchstbetrag|mindestbetrag|mindeststorno*",
    ),
    (Construct.OTHER_BASE, "anzahlung*|restzahlung*|restbetrag*|restpreis*|kaution*|differenz*"),
    (
        Construct.COMPOUND,
        "zuzüglich|zzgl|plus|zusätzlich*|außerdem|sowie|abzüglich|abzgl|nebst|ferner|weitere*|zuschlag*",
    ),
    (
        Construct.PER_UNIT,
        (
            "pro person|je person|pro teilnehmer*|je teilnehmer*|pro reisende*|pro nacht"
            "|je nacht|pro zimmer|je zimmer"
            "|pro kabine|pro tag|je tag|pro ticket|je ticket|pro kind|pro kopf|p . p"
            "|ersten nacht|erste nacht|pro platz"
        ),
    ),
    (Construct.PARTIAL_CANCELLATION, "teilstorn*|teilrücktritt*|einzelner reisender|einzelner teilnehmer*|teil der"),
    (Construct.PARTIAL_CANCELLATION, "teil des|einzelner leistungen|einzelne leistungen|teilabsage*|teilleistung*"),
    (Construct.PROMOTION, "rabatt*|aktion*|frühbucher*|sonderangebot*"),
    (Construct.PROMOTION, "angebotspreis*|sonderpreis*|nachlass*|ermäßig*"),
    (Construct.COUPON, "gutschein*|voucher*|coupon*|kupon*|reiseguthaben*|guthaben*|bonuspunkt*|prämie*"),
    (Construct.BUSINESS_DAYS, "werktag*|arbeitstag*|bankarbeitstag*|geschäftstag*|feiertag*|wochentag*|banktag*"),
    (Construct.BUSINESS_DAYS, "samstag*|sonntag*|wochenend*|geschäftszeit*|bürozeit*|montag*|freitag*|sonnabend*"),
    (Construct.CLOCK_TIME, "stunde*|minute*|uhr|mitternacht|mittag*|uhrzeit*|abfahrtszeit*|abflugzeit*|h|std"),
    (Construct.TIME_ZONE, "ortszeit*|zeitzone*|utc|gmt|mez|mesz|lokalzeit*"),
    (Construct.CALENDAR_UNIT, "monat*|jahr|jahre|jahren|quartal*"),
    (
        Construct.OTHER_ANCHOR,
        "nach|seit|ab zugang|ab erhalt|ab vertragsschluss|ab zahlung|vor fälligkeit|letzte|letzten|nächste|nächsten",
    ),
    (Construct.NO_SHOW, "no - show|no show|noshow|nichterscheinen|nichtantritt|nichtanreise|nicht erscheinen"),
    (
        Construct.CONDITION,
        (
            "es sei denn|außer|ausgenommen|sofern|soweit|vorausgesetzt|nur wenn"
            "|mit ausnahme*|ausnahme*|ausgeschlossen"
            "|entfällt|entfallen|solange|krankheit*|höhere gewalt|versicher*"
            "|ersatzteilnehmer*|ersatzperson*|umbuch*|erlass*"
            "|mitglieder*|auch wenn"
        ),
    ),
    (Construct.NEGATION, "nicht|kein|keine|keinen|keiner|keinem|keinerlei|nie|niemals|ohne|weder|nichts"),
    (Construct.REFUND_SHARE, "erstatt*|rückerstatt*|zurückerstatt*"),
    (Construct.REFUND_SHARE, "rückzahl*|zurückgezahlt|zurückzahl*|gutgeschrieben"),
    (Construct.REFUND_SHARE, "erhalten sie|bekommen sie|zurück"),
    (Construct.NUMBER_FORM, "hälfte|halb|halbe|halben|halber|halbes|drittel*|viertel*|dutzend*|doppelt*|dreifach*"),
    (Construct.NUMBER_FORM, "zweifach*|fünftel*|zehntel*|anderthalb*|eineinhalb*"),
    (Construct.NUMBER_FORM, "paar|wenige*|viele*|cent|promille|‰"),
    (Construct.NUMBER_FORM, "½|¼|¾|hundert*|tausend*|million*|rappen|einmal|zweimal|dreimal"),
)

GERMAN = Lexicon(
    language=Language.GERMAN,
    decimal_mark=",",
    group_mark=".",
    phrases=phrase_table(_ROWS),
    number_words=number_words,
    unit_articles=frozenset({"ein", "eine", "einen", "einem", "einer", "eines"}),
    prepositions=frozenset({"über", "unter", "innerhalb der"}),
    singular_day="tag",
    ordinal_suffixes=frozenset(),
    ordinal_dot=True,
)
