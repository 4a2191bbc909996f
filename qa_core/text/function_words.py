"""Function words of languages other than English: for stop lists, for questions, and to recognise a language.

Each language has three lists. The first holds the most frequent articles, conjunctions and prepositions, which an
index leaves out. The second holds further function words. The third holds words that surround the topic of a question
("please", "tell me", "how much"). A question is searched without all three; the first two show which language a text
is in. Parts before an apostrophe are words ("l'eau" is "l" and "eau").
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from qa_core.text.stop_words import word_set


class WordLists(NamedTuple):
    """Lower-case words with their accents."""

    stop: str
    function: str
    asking: str


WORD_LISTS: dict[str, WordLists] = {
    "ca": WordLists(
        "el la els les un una uns unes de del dels d l i o a al als en amb per que no es s és",
        "qui què quin quina quins quines quan quant quants on com hi ha són era ser està jo tu ell ella nosaltres això "
        "aquest aquesta meu meva seu seva més molt també perquè si però",
        "hola gràcies puc vull saber",
    ),
    "cs": WordLists(
        "a i v ve na se si z ze s do k ke o u je že to za po pro od ale nebo jako by",
        "co kdo kdy kde jak jaký jaká jaké proč kolik který která které jsem jsi jsou jsme byl byla bylo být není "
        "můj moje mám máme může můžu můžeme mě mi už jen také když pokud tento tato jejich jeho její",
        "prosím děkuji chci vědět řekni",
    ),
    "da": WordLists(
        "og i at det en et den de til er som på med for af der ikke til om fra har var eller ved",
        "hvad hvem hvor hvornår hvordan hvorfor hvilken hvilket hvilke jeg du han hun vi mig dig min mit mine din dit "
        "sig kan skal vil må bliver blev være været efter når hvis også men kun mere end hos ud op over under mellem",
        "hej tak venligst gerne vide fortæl mange meget længe høj højt ofte findes får gør",
    ),
    "de": WordLists(
        "der die das den dem des ein eine einen einem einer eines und oder in im an am auf aus bei beim mit nach von "
        "vom zu zum zur für ist sind es nicht auch als",
        "ich du er sie wir ihr mich mir dich dir uns euch ihm ihn ihnen mein meine meinen meinem meiner dein deine "
        "sein seine seinen seiner ihre ihren ihrem ihrer unser unsere wer was wann wo wie warum wieso weshalb wohin "
        "woher womit wofür wodurch worauf woran woraus worin worüber wovon wozu worum "
        "welche welcher welches welchen welchem wessen wem wen bin bist war waren wird werden wurde wurden "
        "worden habe hast hat haben hatte hatten kann kannst können könnte muss müssen soll sollte sollen darf dürfen "
        "will wollen möchte mag man sich dass daß ob wenn weil denn aber doch nur noch schon sehr mehr so dann da "
        "dort hier über unter vor durch um ohne gegen seit bis zwischen während wegen ab dieser diese dieses diesen "
        "diesem jeder jede jedes alle allem allen kein keine keinen keinem keiner zuhause sowie bzw damit dazu dafür "
        "davon hierzu darauf dabei daran darin danach dagegen darüber dadurch daraus davor hierbei hierfür hierüber "
        "deren dessen denen euer eure euren eurer seid sei habt "
        "wäre wären würde würden hätte hätten könnten dürfte dürften müsste müssten möchten wollte wollten willst "
        "darfst musst sollst jemand jemanden niemand niemanden nichts irgendwo irgendwas bereits jetzt jedoch sondern "
        "obwohl falls sobald solange nachdem bevor weder entweder mittels mithilfe gemäß statt trotz sodass manche "
        "manchen einige einigen andere anderen anderer anderes",
        "bitte hallo danke gern gerne wissen sagen sag mal etwas erzähl erzähle gibt geben geht gehen hoch "
        "viel viele vielen lange lang oft groß finde findet finden bekomme bekommt bekommen mache macht machen tun tue "
        "eigentlich überhaupt genau heißt bedeutet per pro gab gäbe gegeben wieviel brauche brauchst braucht brauchen "
        "benötige benötigt benötigen kriege kriegt kriegen heraus raus hinaus hinein herein rein herunter runter "
        "erhalte erhält erhalten passiert passieren geschieht lautet lauten erklär erkläre erklären zeig zeige zeigen "
        "vergleiche vergleichen nenne nennen beschreibe beschreiben gib steht stehen nun "
        "gilt gelten galt los zuständig verantwortlich ne nen nem ner hab habs rum ichs mans wenns obs gibts gehts "
        "hats ists wies krieg",
    ),
    "es": WordLists(
        "el la los las un una unos unas de del al a y o e en con por para que no se es lo su",
        "qué quién quiénes cuál cuáles cuándo cuánto cuánta cuántos cuántas dónde cómo porque si pero como más muy "
        "mi mis tu tus sus me te le les nos yo tú él ella ellos nosotros usted ustedes este esta estos estas ese esa "
        "eso esto hay ha han he son ser está están estoy soy fue era puede puedo pueden debe debo tiene tengo tienen "
        "hacer hace hago sobre desde hasta entre sin también ya cuando donde quien cual",
        "hola gracias favor quiero saber quisiera dime háblame decir existe",
    ),
    "et": WordLists(
        "ja on ei et see ka kui oma või mis ta ma",
        "kes kus millal kuidas miks palju milline millised mida minu sinu meie teie nende olen oled oli olla saab "
        "saan võib võin pean peab siis aga veel ning",
        "palun tere aitäh",
    ),
    "fi": WordLists(
        "ja on ei että se oli ovat tai kun myös mutta jos kuin",
        "mikä mitä mitkä missä mistä mihin milloin miten miksi kuka ketkä kenen montako paljonko kuinka minä sinä hän "
        "me te he minun sinun hänen meidän teidän heidän olen olet olemme voi voin voiko voinko saa saan saako saanko "
        "pitää täytyy onko ovatko tämä tämän nämä joka jotka kanssa sekä vain jo vielä sen niin",
        "kiitos hei haluan tietää kerro paljon monta kauan korkea",
    ),
    "fr": WordLists(
        "le la les l un une des du de d et ou à au aux en dans par pour sur avec que qu ne n pas est sont ce se s il "
        "elle",
        "qui quoi quel quelle quels quelles quand combien où comment pourquoi lequel laquelle dont je j tu nous vous "
        "ils elles on me m te t moi lui leur leurs mon ma mes ton ta tes son sa ses notre nos votre vos cet cette ces "
        "cela ça c suis es êtes sommes était être été ai as a avons avez ont avoir peut peux puis peuvent dois doit "
        "doivent faut fait faire si mais donc car plus moins très aussi sans sous entre chez vers depuis pendant "
        "après avant lors y comme tout toute tous toutes aucun aucune",
        "bonjour merci plaît veux voudrais savoir dire dites parlez parle dis moi existe trouver trouve obtenir "
        "partir cas",
    ),
    "hu": WordLists(
        "a az és egy hogy nem is van ez de",
        "ki mi mit mikor hol hova hogyan miért mennyi hány melyik milyen én te ő mi ti ők vagyok volt lesz lehet kell "
        "van vannak ha csak már még vagy ezt azt azok ezek meg után alatt szerint között",
        "kérem köszönöm szia szeretném tudni",
    ),
    "it": WordLists(
        "il lo la i gli le l un uno una di del dello della dei degli delle dell a al allo alla ai agli alle all da dal "
        "dalla dai in nel nella nei nell con su sul sulla per e ed o che non è si",
        "chi cosa quale quali qual quando quanto quanta quanti quante dove come perché perche se ma anche più molto io "
        "tu lui lei noi voi loro mi ti ci vi mio mia miei mie tuo tua suo sua suoi nostro nostra vostro vostra questo "
        "questa questi queste quello quella sono sei siamo era essere stato stata ho hai ha abbiamo hanno avere può "
        "posso possono devo deve devono fare fa viene vengono c cui tra fra senza ogni già così",
        "ciao buongiorno grazie favore voglio vorrei sapere dimmi parlami dire esiste trovo",
    ),
    "nl": WordLists(
        "de het een en of van in op aan te voor met door bij naar om uit is zijn dat die er niet ook als",
        "ik jij je u hij zij ze wij we jullie mij me mijn jouw uw zijn haar ons onze hun wie wat wanneer waar hoe "
        "waarom welke welk hoeveel ben bent was waren wordt worden werd werden heb hebt heeft hebben had kan kun kunt "
        "kunnen mag mogen moet moeten zal zullen zou wil willen dit deze nog wel maar want dus dan toen over onder "
        "tussen tijdens zonder tegen na tot vanaf sinds meer veel geen alle elk elke iemand niemand doen opnieuw",
        "hallo dank bedankt graag alsjeblieft alstublieft weten vertel zeg vind vinden krijg krijgt krijgen hoog lang "
        "vaak duur",
    ),
    "no": WordLists(
        "og i at det en et ei den de til er som på med for av ikke om fra har var eller ved",
        "hva hvem hvor når hvordan hvorfor hvilken hvilket hvilke jeg du han hun vi meg deg min mitt mine din ditt seg "
        "kan skal vil må blir ble være vært etter hvis også men bare mer enn hos ut opp over under mellom noen ingen",
        "hei takk gjerne vite fortell mange mye lenge høy høyt ofte finnes får gjør",
    ),
    "pl": WordLists(
        "i w we z ze na do o od po za dla przez przy się nie to jest a oraz lub że",
        "co kto kiedy gdzie jak jaki jaka jakie dlaczego ile który która które czy kogo komu ja ty on ona my wy oni "
        "mnie mi mój moja moje mam ma mamy mają są był była było być może mogę można musi muszę już tylko także ale "
        "jeśli jeżeli ten ta te tego tej tym tych jego jej ich nad pod między podczas bez u by",
        "proszę dziękuję chcę wiedzieć powiedz opowiedz",
    ),
    "pt": WordLists(
        "o a os as um uma uns umas de do da dos das em no na nos nas ao à aos às por pelo pela para com e ou que não "
        "se é",
        "quem qual quais quando quanto quanta quantos quantas onde como porque porquê mas mais muito também eu tu ele "
        "ela eles elas nós você vocês me te lhe meu minha meus minhas seu sua seus suas este esta estes estas esse "
        "essa isso isto há são ser está estão estou sou foi era ter tem tenho têm pode posso podem deve devo fazer "
        "faço faz já sobre desde até entre sem ainda",
        "olá obrigado obrigada favor quero saber gostaria fale diga existe encontro",
    ),
    "ro": WordLists(
        "și în de la cu pe a al ai ale un o unei unui din pentru că nu este sau se să",
        "ce cine când unde cum care cât câte câți câtă eu tu el ea noi voi ei meu mea mei mele sunt era fi fost am ai "
        "are avem au pot poate trebuie dacă dar mai foarte după până între fără acest această aceste",
        "bună mulțumesc vreau rog spune",
    ),
    "ru": WordLists(
        "и в во на с со к ко по о об от до из у за для не что это как или же бы а но",
        "кто когда где куда откуда почему зачем сколько какой какая какое какие каков какова который которая я ты он "
        "она мы вы они меня мне мой моя мое мои моего его её ее их наш ваш есть был была было были быть будет можно "
        "нужно надо может могу ли если только уже ещё еще так тоже также при под над между через без после перед чем "
        "чего чему этот эта эти того том тем",
        "пожалуйста здравствуйте спасибо скажите скажи расскажи хочу знать привет",
    ),
    "sv": WordLists(
        "och i att det en ett den de till är som på med för av inte om från har var eller vid",
        "vad vem vilka vilken vilket när hur varför vart jag du han hon vi mig dig min mitt mina din ditt sig kan ska "
        "skall vill måste får blir blev vara varit efter också men bara mer än hos ut upp över under mellan några "
        "ingen inga detta dessa denna",
        "hej tack gärna veta berätta säg många mycket länge hög högt ofta finns hittar gör göra",
    ),
    "tr": WordLists(
        "ve bir bu da de için ile mi mı mu mü ne o",
        "kim nerede nereden nereye nasıl neden niçin kaç hangi ben sen biz siz onlar benim senin bizim var yok değil "
        "daha çok gibi kadar sonra önce ama veya olarak olan olduğu her şey mıyım miyim midir mıdır nedir",
        "lütfen merhaba teşekkürler istiyorum",
    ),
    "uk": WordLists(
        "і й в у на з із до по про від за для не що це як або та але",
        "хто коли де куди чому скільки який яка яке які я ти він вона ми ви вони мене мені мій моя моє його її їх є "
        "був була було бути буде можна треба може можу чи якщо тільки вже ще також під над між після перед без цей ця",
        "будь ласка привіт дякую",
    ),
}


@cache
def stop_words(language: str) -> frozenset[str]:
    """Words that an index of this language leaves out; none if the language has no list."""
    return word_set(WORD_LISTS[language].stop) if language in WORD_LISTS else frozenset()


@cache
def function_words(language: str) -> frozenset[str]:
    """Articles, prepositions, pronouns, auxiliaries and question words."""
    lists = WORD_LISTS.get(language)
    return word_set(f"{lists.stop} {lists.function}") if lists else frozenset()


@cache
def question_stop_words(language: str) -> frozenset[str]:
    """Words that say nothing about the topic of a question: function words and courtesies."""
    lists = WORD_LISTS.get(language)
    return word_set(" ".join(lists)) if lists else frozenset()
