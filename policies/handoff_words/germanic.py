"""English, German and Dutch."""

from __future__ import annotations

from typing import Final

from policies.handoff_words.form import MACHINES, Words

ENGLISH: Final = Words(
    talk="talk to|talk with|speak to|speak with|chat with|speaking to|talking to|connect me to|connect me with"
    "|transfer me to|transfer this to|hand me over to|pass me to|pass me on to|put me through to|be transferred to"
    "|be connected to|be put through to|escalate to|escalate this to|escalate me to|get through to|get me through to"
    "|switch me to|forward me to|redirect me to|direct me to|route me to|hear from|connecting me to"
    "|connecting me with|transferring me to|speaking with|talking with|to contact|be moved to|switch to"
    "|have a call with"
    "|get hold of|get a hold of|bring in|call me with",
    lone="agent|operator|manager|customer service|customer support|rep|support agent",
    want="want|need|like|prefer|get|get me|get us|give me|give us|find me|reach|have|send me|put|i'll take",
    people="human|humans|human being|human beings|person|people|somebody|someone|agent|operator|representative|rep"
    "|advisor|adviser|employee|staff|staff member|member of staff|manager|supervisor|colleague|customer service"
    "|customer support|support agent|support team|service agent|team member|service representative|call center"
    "|service rep|human agent|live agent|specialist",
    sure="human|human being|human beings|human agent|live agent|representative|customer service representative"
    "|service representative|support agent|member of staff|supervisor",
    beside="a|an|the|your|any|some|one|of|my|another|customer|service|support|actual|proper|senior|human|real|live"
    "|living|breathing|qualified|different|english|speaking|now",
    sure_beside="human|real|live|living|actual|breathing",
    not_behind="error|errors|resource|resources|rights|readable|review|trafficking|body|made|being's|nature|id|number"
    "|fee|name|code|account|says|said|told",
    alone="please|now|immediately|just|only|hello|hi|hey|right|asap|i|said|again|ok|okay|thanks|thank|you|yes|and|today"
    "|instantly|urgently|for|me",
    whole="is there a human|is there someone i can talk to|is there someone i can speak to"
    "|is there someone i could speak to|is there someone else i could speak to"
    "|is there someone else i can speak to|is there someone else i can talk to|is there a real person"
    "|are there any humans|is anyone there|is anybody there|let a human"
    "|someone real|somebody real|someone human|anyone human|anyone real|no more bots|stop the bot",
    no="no|not|never|don't|dont|doesn't|doesnt|didn't|didnt|won't|wont|wouldn't|shouldn't|can't|cant|cannot|couldn't"
    "|without|nor|neither|hardly|stop|avoid|refuse|instead of|rather than|hold off|hold off on|isn't|aren't|wasn't",
    answer="no|nope|nah",
    machines=MACHINES + "machine|machines|assistant|automated|automatic|recording|you",
    carries="want|wanna|wish|need|like|love|prefer|would|to|just|really|now|immediately|can|could|may|might|must|will"
    "|have|gotta|rather|please|finally|still|only|also|simply|get|the|chance|be|able|allowed|should|shall|urgently"
    "|insist|on|demand|ask|asking|for|trying|tried|try",
    subjects="i|i'd|we|we'd|id|i'm|im|i'll|let me|let us|let's",
    orders="connect|transfer|hand|pass|put|escalate|switch|forward|redirect|direct|route|get|give|find|bring|send"
    "|please|call|contact",
    joins="think|believe|suppose|guess|say|said|mean|know|feel|that|because|way|do|does|did|unless|before|until|was"
    "|were|am|told",
    doubts="you'd|you're|you want|you would like|you are|you were|was|were|been|while|kept|if|whether|when"
    "|do i need to|do i have to|do i really need to"
    "|do i really have to|do we have to|should i"
    "|must i|why do i have to|why do i need to|unless|before|until|after",
    conditions="if|unless|in case|once|after|when|should you",
    polite="if possible|if you can|if you could|if you would|if i may|if you please|if that is possible"
    "|if that's possible|if at all possible|if you don't mind|when you can|when possible",
    asks_not="can't|cant|couldn't|why can't|why cant|why don't|why dont|why not|isn't|aren't|why won't|won't|can i not"
    "|could i not",
)
GERMAN: Final = Words(
    talk="sprechen mit|reden mit|telefonieren mit|chatten mit|kontakt zu|kontakt mit|verbinde mich|verbinden sie"
    " mich|verbindet mich|verbinden mit|sprechen sie mit|weiterleiten an|weiterleitung an|leiten sie mich"
    " weiter an|leite mich weiter an|übergeben sie an|stellen sie mich durch zu|durchstellen zu|ich spreche lieber mit"
    "|ich rede lieber mit|gespräch mit|wenden an|anruf von|rückruf von|weiter an",
    lone="kundenservice|kundendienst|berater|operator|chef|kundenbetreuung",
    want="will|möchte|brauche|bräuchte|hätte gern|hätte gerne|geben sie mir|gib mir|gebt mir|holen sie|hol"
    "|holen sie mir"
    "|verlange|wünsche|wünsche mir|bekomme ich|ich will|haben|geben",
    behind="sprechen|reden|telefonieren|chatten|verbunden werden|verbinden|kontaktieren|erreichen|schreiben"
    "|weiterleiten"
    "|weitergeleitet werden|durchgestellt werden|durchstellen|sprechen können|haben|bekommen|kommunizieren|spreche"
    "|verlangen|übergeben|weitergeleitet|verbunden|durchgestellt|unterhalten",
    people="mensch|menschen|person|mitarbeiter|mitarbeiterin|mitarbeitern|kollege|kollegen|kollegin|berater|beraterin"
    "|sachbearbeiter|sachbearbeiterin|kundenservice|kundendienst|kundenbetreuer|kundenberater|kundenbetreuung|support"
    "|jemand|jemandem|jemanden|supportmitarbeiter|servicemitarbeiter|ansprechpartner|ansprechpartnerin|vorgesetzten"
    "|vorgesetzter|vorgesetzte|chef|agent|agenten|operator|jemandem vom support",
    sure="mensch|menschen|mitarbeiter|mitarbeiterin|sachbearbeiter|sachbearbeiterin|kundenberater|kundenbetreuer"
    "|ansprechpartner|ansprechpartnerin|servicemitarbeiter|supportmitarbeiter|vorgesetzten",
    beside="ein|eine|einen|einem|einer|der|die|den|dem|ihren|ihrem|ihrer|eurem|euren|echten|echter|echte|echtem"
    "|menschlichen|menschlicher|menschliche|richtigen|richtiger|richtige|richtigem|realen|reale|realer|lebenden|mit|zu"
    "|an|anderen|aus|fleisch|und|blut|irgendeinem|irgendeinen|persönlichen|echt",
    sure_beside="echten|echter|echte|menschlichen|menschlicher|menschliche|richtigen|richtiger|richtige|realen|reale"
    "|realer|lebenden",
    not_behind="hat|haben gesagt|sagte|nummer|name|konto",
    alone="bitte|jetzt|sofort|hallo|endlich|nur|einfach|mal|danke|ja|ans|am|telefon|her|gleich|dringend|und|zwar|ich"
    "|sagte|hier|schnell",
    whole="ist da ein mensch|ist da jemand|gibt es hier menschen|gibt es hier einen menschen|ist hier jemand echtes",
    no="nicht|kein|keine|keinen|keinem|keiner|keinerlei|nie|niemals|ohne|weder|noch|statt|anstatt|nein|nie wieder",
    answer="nein|ne|nee|nö",
    machines=MACHINES + "maschine|maschinen|ki|automat|automaten|roboter|computer|assistent|assistenten|ansage|dir",
    carries="möchte|will|würde|gern|gerne|bitte|jetzt|sofort|endlich|nur|mal|doch|einfach|kann|könnte|darf|dürfte|muss"
    "|mit|lieber|am|liebsten|unbedingt|dringend|sollte|wollen|möchten|würden|können|könnten|persönlich|direkt|auch|mich"
    "|gleich|dann|also|aber|bestehe|darauf|wünsche|zu|an|eher|nun|wirklich|selbst|gar|überhaupt",
    subjects="ich|wir|man",
    orders="verbinde|verbinden|verbindet|leite|leiten|gib|geben|gebt|hol|holen|stelle|stellen|übergeben|bitte",
    joins="dass|daß|glaube|denke|meine|sage|sagte|weil|ob",
    doubts="wenn|falls|ob|muss ich|muss man|soll ich|bevor|warum muss ich|wieso muss ich|nachdem|solange|müsste ich",
    conditions="wenn|falls|sofern|sobald|nachdem|sollten sie|solltest du",
    polite="wenn möglich|wenn es geht|wenn sie können|wenn das geht|falls möglich|wenn das möglich ist"
    "|wenn es möglich ist",
    asks_not="warum|wieso|weshalb|kann|könnte|darf|dürfte|kann ich|könnte ich|darf ich|können|könnten|gibt es",
    negates_behind=True,
)
DUTCH: Final = Words(
    talk="praten met|spreken met|contact met|verbind me met|verbind mij met|verbindt u mij met|verbinden met"
    "|doorverbinden"
    " met|doorverbonden met|verbonden met|chatten met|bellen met|geef me|geef mij|schakel me door naar|schakel mij door"
    " naar|overleggen met",
    lone="klantenservice|manager|supervisor|agent",
    want="wil|wil graag|zou graag|heb|nodig|geef me|geef mij|eis|wens",
    behind="spreken|praten|bellen|chatten|te spreken|te woord staan|verbonden worden|doorverbonden worden|aan de lijn"
    "|nodig|te praten|hebben|krijgen|verbinden|doorverbinden",
    people="mens|mensen|persoon|medewerker|medewerkster|iemand|collega|agent|klantenservice|klantendienst|adviseur"
    "|vertegenwoordiger|leidinggevende|operator|manager|supervisor|mens van vlees en bloed",
    sure="mens|medewerker|medewerkster|leidinggevende|adviseur|vertegenwoordiger",
    beside="een|de|het|uw|jullie|je|echt|echte|menselijke|levende|met|andere|'n|n|van",
    sure_beside="echt|echte|menselijke|levende",
    not_behind="rechten|nummer",
    alone="graag|nu|alsjeblieft|alstublieft|a|u|b|aub|hallo|meteen|direct|gewoon|ja|dank|je|wel|even|onmiddellijk|aan"
    "|de"
    "|lijn",
    whole="is daar iemand|is er een mens|is hier iemand",
    no="niet|geen|nooit|zonder|noch|in plaats van|nee|nimmer",
    answer="nee|neen",
    machines=MACHINES + "machine|machines|ki|automaat|computer|assistent|jou",
    carries="wil|wou|zou|graag|willen|kan|kunnen|mag|moet|met|nu|meteen|alstublieft|alsjeblieft|gewoon|liever|direct"
    "|even|echt|toch|eindelijk|persoonlijk|ook|te|wens|eis|mij|me",
    subjects="ik|wij|we",
    orders="verbind|geef|schakel|laat|verbindt",
    joins="dat|denk|geloof|zeg|zei|omdat",
    doubts="als|wanneer|moet ik|of|voordat|nadat|waarom moet ik",
    conditions="als|indien|wanneer|zodra|tenzij|nadat",
    polite="als het kan|als dat kan|indien mogelijk|als u kunt|als je kunt",
    asks_not="waarom|kan|kan ik|mag|mag ik|zou|kunnen",
    negates_behind=True,
)
