"""English: the words of cancellation terms."""

from __future__ import annotations

from policies.fees.candidate import Language, PercentBase, ReferenceKind, TimeUnit
from policies.fees.english_numbers import number_words
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
    (Sign.ARTICLE, "the|your|our"),
    (
        Sign.FILLER,
        (
            "is|are|a|an|in|on|at|for|by|we|you|it|if|when|with|will|be|this|that|fee|fees|charge|charges|cost|costs"
            "|cancellation|cancellations|cancel|cancelled|canceled|cancelling|withdrawal"
            "|booking|arrive|notice|day's|flat"
        ),
    ),
    (Sign.FILLER, "as follows|following applies|following apply|following charges|following fees|following terms"),
    (TimeUnit.DAY, "day|days|day '|days '|calendar day|calendar days"),
    (TimeUnit.WEEK, "week|weeks|weeks '"),
    (Sign.PERCENT, "%|percent|per cent"),
    (Sign.FROM, "from|starting|as from|as of"),
    (Sign.UPTO, "up to|until|till|up until|up to and including|until and including|through"),
    (Sign.TO, "to|-"),
    (Sign.BETWEEN, "between"),
    (Sign.AND, "and|but|,"),
    (Sign.INCLUSIVE, "inclusive|both inclusive|both days inclusive|each inclusive|inclusively"),
    (Sign.BEFORE, "before|prior to|ahead of"),
    (Sign.OF, "of"),
    (Sign.FROM_BOOKING, "from booking|from the booking|from the time of booking|from the day of booking"),
    (Sign.REMAINDER, "later|otherwise|thereafter|after that|in all other cases|any other time|earlier|before that"),
    (Comparator(Side.END, True), "at least|no later than|not later than|no less than|not less than|no fewer than"),
    (Comparator(Side.END, True), "not fewer than|a minimum of"),
    (Comparator(Side.END, True, Position.EITHER), "at the latest"),
    (Comparator(Side.END, False), "more than|over|earlier than"),
    (Comparator(Side.START, False), "less than|fewer than|under|later than"),
    (Comparator(Side.START, True), "at most|no more than|not more than|within|no earlier than|not earlier than"),
    (Comparator(Side.END, True, Position.AFTER), "or more|and more|or longer|or earlier|or more in advance|or over"),
    (Comparator(Side.START, True, Position.AFTER), "or less|or fewer|and less|and fewer|or later"),
    (ReferenceKind.DEPARTURE, "departure|travel|departure date|date of departure|scheduled departure|departure day"),
    (ReferenceKind.DEPARTURE, "start of travel|start of the trip|start of the tour|start of the journey|tour start"),
    (ReferenceKind.DEPARTURE, "start of the cruise|trip start|start of the holiday"),
    (ReferenceKind.ARRIVAL, "arrival|arrival date|date of arrival|scheduled arrival|check-in|check - in|check in"),
    (ReferenceKind.EVENT, "event|the event|start of the event|event date|date of the event|start of the course"),
    (ReferenceKind.EVENT, "course|the performance|start of the performance|start of the workshop|workshop"),
    (DayOf(ReferenceKind.DEPARTURE), "day of departure|departure day itself|day of travel"),
    (DayOf(ReferenceKind.ARRIVAL), "day of arrival|arrival day"),
    (DayOf(ReferenceKind.EVENT), "day of the event|event day|day of the course|day of the workshop"),
    (
        PercentBase.PRICE,
        (
            "price|full price|tour price|the tour price|travel price|trip price|total price"
            "|booking price|package price"
            "|price of the tour|price of the trip|price of the holiday|holiday price"
            "|course fee|ticket price|total cost"
            "|booking value|room price|price of the stay|fare|total fare|rental price|cruise fare"
        ),
    ),
    (
        PercentBase.PAID,
        (
            "amount paid|price paid|sum paid|amount already paid|payments made|payment made|payment received"
            "|amount you paid|amount you have paid|amount received"
        ),
    ),
    (Sign.FREE, "free cancellation|cancel for free|free of charge|free of any charge|no fee|no charge"),
    (Sign.FREE, "without charge|without a fee|without any fee"),
    (Sign.FREE, "no cancellation fee|cancellation is free|full refund"),
    (Sign.FREE, "fully refundable|refunded in full|no fee is due"),
    (Sign.FULL, "no refund|non - refundable|non refundable|nonrefundable|not refundable|no refund is given"),
    (Currency("EUR"), "eur|euro|euros|€"),
    (Currency("USD"), "usd|dollar|dollars|us dollar|us dollars|$|us$|us dollars"),
    (Currency("GBP"), "gbp|£|pound|pounds|pounds sterling"),
    (Currency("CHF"), "chf|franc|francs|swiss franc|swiss francs"),
    (Currency("JPY"), "jpy|¥|yen"),
    (Currency("CAD"), "cad|ca$|c$"),
    (Currency("AUD"), "aud|a$|au$"),
    (Currency("NZD"), "nzd|nz$"),
    (
        Construct.VAGUE,
        (
            "may apply|may also apply|may be charged|may be due|may be deducted"
            "|may be retained|may be levied|may vary"
            "|may be withheld|may be incurred|may incur|may charge|may deduct|may retain|may withhold|may levy|we may"
            "|fee may|fees may|charges may|charge may|might|could be|can be charged|can vary|discretion*|reasonabl*"
            "|appropriate*|approximately|about|around|roughly|circa|ca|approx|usually"
            "|normally|generally|typically|often"
            "|in principle|as a rule|depending|depends|varies|vary|subject to|where applicable|if applicable"
            "|where appropriate|as the case may be|on request|upon request|case by case|case - by - case|individually"
            "|from time to time|reserve the right|reserves the right|actual costs|actual cost|some|several|a portion"
            "|administrative costs|in good time|as agreed|estimated|customary|proportionate|pro rata"
        ),
    ),
    (
        Construct.ALTERNATIVES,
        "whichever*|greater of|higher of|lower of|lesser of|larger of|smaller of|or alternatively",
    ),
    (Construct.BOUNDED_FEE, "minimum|maximum|min|max|capped|cap|ceiling|floor"),
    (Construct.OTHER_BASE, "deposit*|of balance|outstanding*|remaining*|of difference|net of"),
    (Construct.COMPOUND, "plus|in addition|additional*|as well as"),
    (Construct.COMPOUND, "on top|combined with|further|and also|increased by"),
    (Construct.COMPOUND, "reduced by|less the|surcharge*|including a|together with"),
    (
        Construct.PER_UNIT,
        (
            "per person|per traveller|per traveler|per passenger|per guest|per night"
            "|per room|per cabin|per ticket|per day"
            "|per item|per adult|per child|per seat|each person|each traveller|each traveler"
            "|each passenger|each guest"
            "|each night|each room|each ticket|first night|a person|a head|apiece"
        ),
    ),
    (
        Construct.PARTIAL_CANCELLATION,
        (
            "partial*|part of the booking|part of the trip|part of the group"
            "|some of the travellers|individual traveller*"
            "|individual traveler*|one of the travellers|individual participant*"
            "|reduction of the group|single services"
        ),
    ),
    (Construct.PROMOTION, "promotion*|promo|discount*|special offer*|early bird*|early - bird*|sale|flash sale|deal"),
    (Construct.COUPON, "coupon*|voucher*|gift card*|credit note*|travel credit*|store credit*|loyalty*|bonus points"),
    (Construct.BUSINESS_DAYS, "business day*|working day*|weekday*|bank holiday*|public holiday*|banking day*"),
    (Construct.BUSINESS_DAYS, "saturday*|sunday*|weekend*|business hour*|office hour*|monday*|friday*"),
    (Construct.CLOCK_TIME, "hour*|minute*|o'clock|noon|midnight|midday|am|pm|a . m|p . m|time of departure|h"),
    (Construct.CLOCK_TIME, "departure time|scheduled time|check - in time|arrival time|hrs"),
    (Construct.TIME_ZONE, "local time|time zone*|timezone*|gmt|utc|cet|est|local date"),
    (Construct.CALENDAR_UNIT, "month*|year|years|quarter year|fortnight*"),
    (
        Construct.OTHER_ANCHOR,
        (
            "after|since|following|of booking|of purchase|of the booking date|of receipt|of confirmation|of payment"
            "|from receipt|from confirmation|from purchase|before the due date|before final payment|last|next"
        ),
    ),
    (Construct.NO_SHOW, "no show|no - show|no shows|no - shows|fail to appear|does not appear|failure to arrive"),
    (
        Construct.CONDITION,
        (
            "unless|except*|provided|only if|other than|excluding|save for|waive*|as long as"
            "|in case of illness|illness"
            "|force majeure|insurance|insured|replacement|rebook*|amend*|transfer*|members|if and only if|even if"
        ),
    ),
    (Construct.NEGATION, "not|no|never|neither|nor|none|cannot|without|n't|don't|nothing"),
    (Construct.REFUND_SHARE, "refund*|reimburs*|get back|given back|paid back|returned|pay back|credited"),
    (Construct.NUMBER_FORM, "half|third|thirds|quarter|quarters|dozen|double|triple|twice|times|once|couple|pair"),
    (
        Construct.NUMBER_FORM,
        "few|many|hundred*|thousand*|cent|cents|pence|million*|tenth|fifth|fold|basis points|permille|‰|½|¼|¾",
    ),
)

ENGLISH = Lexicon(
    language=Language.ENGLISH,
    decimal_mark=".",
    group_mark=",",
    phrases=phrase_table(_ROWS),
    number_words=number_words,
    unit_articles=frozenset({"a", "an"}),
    prepositions=frozenset({"over", "under", "within"}),
    singular_day="day",
    ordinal_suffixes=frozenset({"st", "nd", "rd", "th"}),
    ordinal_dot=False,
)
