"""French, Spanish and Italian."""

from __future__ import annotations

from typing import Final

from policies.handoff_words.form import MACHINES, Words

FRENCH: Final = Words(
    talk="parler à|parler avec|parler au|parler aux|discuter avec|échanger avec|passez moi|passe moi|passer à"
    "|mettez moi en relation avec|mettre en relation avec|mettre en contact avec|mis en relation avec|être mis en"
    " contact avec|transférez moi à|transférez moi vers|transfère moi à|me transférer à|me transférer vers"
    "|être transféré à|être transférée à|joindre|contacter|avoir affaire à|parler directement à|au téléphone avec",
    lone="agent|opérateur|service client|responsable|superviseur",
    want="veux|voudrais|souhaite|souhaiterais|besoin de|besoin d|donnez moi|donne moi|exige|demande|avoir|préfère"
    "|préférerais|trouvez moi",
    people="humain|humains|être humain|personne|quelqu'un|conseiller|conseillère|agent|opérateur|opératrice|employé"
    "|responsable|service client|interlocuteur|collègue|représentant|téléconseiller|superviseur|vraie personne",
    sure="humain|humains|être humain|conseiller|conseillère|téléconseiller|vraie personne|interlocuteur",
    beside="un|une|l|le|la|les|votre|vos|des|du|de|d|vrai|vraie|véritable|réel|réelle|autre|humain|humaine|physique|au",
    sure_beside="vrai|vraie|véritable|réel|réelle|humaine",
    not_behind="ressources",
    alone="svp|s|il|vous|plaît|plait|te|maintenant|tout|de|suite|bonjour|vite|immédiatement|juste|merci|oui|stp|en"
    "|chair|et|os",
    whole="y a t il un humain|il y a quelqu'un|y a t il quelqu'un",
    no="pas|jamais|sans|aucun|aucune|ni|plutôt que|au lieu de|non|refuse",
    answer="non",
    machines=MACHINES + "machine|machines|ia|automate|répondeur|ordinateur|assistant|toi",
    carries="veux|voudrais|souhaite|souhaiterais|aimerais|désire|peux|puis|pourrais|dois|peut|bien|juste|vraiment"
    "|maintenant|absolument|exige|de|à|immédiatement|directement|simplement|être|me|préfère|préférerais|demande|enfin"
    "|faire|voulons",
    subjects="je|j|nous|on|laissez moi|laisse moi|est ce que je|puis je|pourrais je",
    orders="passez|passe|mettez|mets|transférez|transfère|donnez|donne|trouvez|svp",
    joins="que|qu|pense|crois|dis|dit|parce",
    doubts="si|quand|avant|est ce que je dois|dois je|faut il|après",
    conditions="si|au cas où|sauf si|quand|une fois",
    polite="si possible|si c est possible|si vous pouvez|si vous voulez bien|quand vous pouvez",
    asks_not="pourquoi|est ce que|ne puis je|ne pourrais je",
)
SPANISH: Final = Words(
    talk="hablar con|hablar a|hablo con|comunicarme con|comuníqueme con|comunícame con|páseme con|pásame con"
    "|pásenme con"
    "|pasarme con|conécteme con|conéctame con|transfiérame a|transfiéreme a|transferirme a|me transfiera a"
    "|contactar con"
    "|contactar a|póngame con|ponme con|atender por|me comunique con|me pase con|me atienda|que me atienda|atiéndame"
    "|chatear con|conversar con",
    lone="agente|atención al cliente|servicio al cliente|gerente|encargado",
    want="quiero|quisiera|necesito|deme|dame|prefiero|exijo|pido|solicito|quiero a|necesito a",
    people="humano|humana|humanos|ser humano|persona|alguien|agente|operador|operadora|asesor|asesora|representante"
    "|empleado|empleada|encargado|supervisor|supervisora|gerente|ejecutivo|atención al cliente|servicio al cliente",
    sure="humano|humana|ser humano|asesor|asesora|representante|supervisor|supervisora|operador|operadora",
    beside="un|una|el|la|los|su|sus|algún|alguna|verdadero|verdadera|real|de|verdad|otro|otra|agente|persona|su",
    sure_beside="verdadero|verdadera|real|agente",
    not_behind="recursos|real de|error|física es",
    alone="por|favor|ya|ahora|mismo|hola|inmediatamente|real|gracias|sí|si|de|verdad|solo|urgente|rápido|físico|física",
    whole="hay alguien ahí|hay algún humano|hay una persona real|me atienda una persona|me atienda un humano",
    no="no|nunca|jamás|sin|ni|tampoco|en vez de|en lugar de|ningún|ninguna",
    answer="no",
    machines=MACHINES + "máquina|máquinas|ia|contestador|ordenador|computadora|asistente",
    carries="quiero|quisiera|necesito|puedo|podría|me|gustaría|deseo|quiera|quieras|ya|ahora|solo|por|favor|prefiero"
    "|exijo|solo|poder|queremos|podemos|debo|pido|que|por|realmente",
    subjects="yo|nosotros|déjeme|déjame",
    orders="páseme|pásame|conécteme|conéctame|transfiérame|póngame|ponme|deme|dame|comuníqueme|comunícame",
    joins="creo|pienso|digo|dije|porque|que",
    doubts="si|cuando|tengo que|debo|hace falta|antes de|después de|hay que",
    conditions="si|en caso de|cuando|a menos que|una vez",
    polite="si es posible|si puede|si puedes|si pudiera|cuando pueda|si es tan amable",
    asks_not="por qué|es que no puedo|acaso no puedo|no puedo|no podría|no me puede|no me pueden|no hay",
    negates_next=True,
)
ITALIAN: Final = Words(
    talk="parlare con|parlare a|parlo con|passami|mi passi|passatemi|passarmi|mettermi in contatto con|mi metta in"
    " contatto con|mettimi in contatto con|contattare|essere messo in contatto con|trasferiscimi a|mi trasferisca a"
    "|collegami con|mi colleghi con|chattare con|mi faccia parlare con|fammi parlare con|essere trasferito a",
    lone="assistenza clienti|servizio clienti|responsabile",
    want="voglio|vorrei|desidero|ho bisogno di|mi serve|datemi|dammi|mi dia|preferisco|pretendo|serve",
    people="umano|umana|essere umano|persona|qualcuno|operatore|operatrice|addetto|addetta|consulente|impiegato"
    "|rappresentante|responsabile|supervisore|agente|assistenza clienti|servizio clienti|collega|persona reale",
    sure="umano|umana|essere umano|operatore|operatrice|persona reale|addetto|supervisore",
    beside="un|una|uno|un'|l|il|la|lo|vostro|vostra|vero|vera|reale|autentico|altro|altra|di|operatore|persona|del"
    "|della",
    sure_beside="vero|vera|reale|autentico",
    not_behind="errore|risorse",
    alone="per|favore|piacere|adesso|ora|subito|ciao|grazie|sì|si|vero|vera|reale|solo|immediatamente|in|carne|ossa|e",
    whole="c è qualcuno|c è un umano|c è un operatore",
    no="non|mai|senza|né|nessun|nessuno|nessuna|no|invece di|anziché",
    answer="no",
    machines=MACHINES + "macchina|macchine|ia|risponditore|automa|assistente",
    carries="voglio|vorrei|posso|potrei|desidero|mi|piacerebbe|preferisco|ho|bisogno|di|subito|ora|adesso|solo|per"
    "|favore"
    "|devo|poter|pretendo|vogliamo|voglia|proprio|davvero",
    subjects="io|noi",
    orders="passami|passatemi|collegami|trasferiscimi|dammi|datemi|mettimi|fammi",
    joins="che|penso|credo|dico|detto|perché",
    doubts="se|quando|devo|bisogna|prima di|dopo",
    conditions="se|qualora|quando|una volta",
    polite="se possibile|se è possibile|se può|se puoi|quando può",
    asks_not="perché|non posso|non potrei|non c è",
    negates_next=True,
)
