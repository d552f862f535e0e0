# ruff: noqa: E501 (a pattern that is broken into lines is harder to read than a long one)
"""Wordings of instructions to a model, each with a weight.

Patterns are matched against folded text (`folding.fold`). A weight of 1 is enough for a finding;
smaller weights add up within a passage.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Cue:
    """A weighted pattern; it is tried only if one of the texts in ``needs`` occurs.

    Compiling all of them would take a tenth of a second of an engine's start.
    """

    kind: str
    weight: float
    needs: tuple[str, ...]
    text: str

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(self.text)


@dataclass(frozen=True, slots=True)
class CueMatch:
    kind: str
    weight: float
    start: int
    end: int


def _cue(kind: str, weight: float, needs: str, *pattern: str) -> Cue:
    return Cue(kind, weight, tuple(needs.split("|")), "".join(pattern))


# An imperative begins a clause; "told it to ignore" reports one.
_ORDER = (
    r"(?:(?:^|[.!?:;,\n\"'“‘(\[>*—–-]|\b(?:please|kindly|must|should|shall|will|now|then|and|to do:|just|"
    r"simply|immediately|first|instead|you|have to|need to|are to|required to|here|always|silently|"
    r"secretly|also|next)\b)[\s*_#>\"'“(-]*)"
)
# The same in other languages.
_FOREIGN_ORDER = (
    r"(?:(?:^|[.!?:;,\n\"'“‘(\[>*—–-]|\b(?:please|bitte|und|dann|jetzt|et|puis|maintenant|y|ahora|luego|por favor|"
    r"per favore|e|poi|ora|agora|depois|en|dan|nu|i|teraz|and|then)\b)[\s*_#>\"'“(-]*)"
)
_GAP = r"(?:[^.!?]{0,40}?\s)?"
_RULES = (
    r"(?:instructions?|rules|guidelines?|directions?|directives?|prompts?|constraints?|restrictions?|"
    r"system messages?|polic(?:y|ies)|orders?|commands?|guardrails?|safeguards?|training|programming|"
    r"safety (?:measures|protocols?|filters?)|limitations?|moderation|content filters?)"
)
_TALK = r"(?:context|conversation|messages?|text|input|tasks?|requests?|configuration|settings|question|prompt)"
_MODEL = (
    r"(?:ai|a\.i\.|ais|llms?|(?:language|chat|foundation|large) models?|models?|(?:ai|virtual|digital|automated|"
    r"chat|smart|personal|your|the) assistants?|assistants?|chatbots?|(?:ai|chat|autonomous|automated|"
    r"software) agents?|agents?|(?:chat)?gpt(?:-\w{1,24})?|claude|gemini|copilot|llama|mistral|grok|siri|bots?|neural network|"
    r"automated (?:readers?|systems?|tools?|processors?)|machine readers?|summari[sz]ers?|crawlers?)"
)
_MODEL_NEEDS = "ai|a.i.|llm|model|assistant|chatbot|agent|gpt|claude|gemini|copilot|llama|mistral|grok|siri|neural|software|bot|machine|automated|summari|crawler"
_SECRETS = (
    r"(?:passwords?|passphrases?|api[\s_-]?keys?|access tokens?|tokens?|secrets?|credentials?|private keys?|"
    r"ssh keys?|session cookies?|cookies|(?:chat|conversation|message) (?:history|log|transcript)s?|"
    r"(?:the )?last (?:\w{1,24} )?(?:messages?|e-?mails?|notes|conversations?)|(?:previous|recent|all|every|each|full|whole|entire|current) (?:conversations?|messages?|chats?|notes?|memor(?:y|ies)|files?|"
    r"documents?|e-?mails?)|conversation|system prompt|private notes?|memories|(?:the|this|whole|entire) vault|"
    r"credit cards?(?: numbers?| details)?|bank (?:details|account|data)|account (?:details|numbers?)|contacts|contact list|"
    r"phone numbers?|home address|e-?mail address(?:es)?|personal (?:data|details|information)|"
    r"environment variables|\.env|user(?:'s|s'|s)? (?:data|details|information|files|notes|name|e-?mails?|location|questions?)|"
    r"social security|one-time codes?|2fa codes?|seed phrases?|wallet)"
)
_SENDING = (
    r"(?:send|forward|e-?mail|mail|post|upload|transmit|submit|exfiltrate|leak|copy|deliver|report|"
    r"append|attach|embed|encode|push|relay|share|disclose|include|insert|put|dump|smuggle|transfer|"
    r"publish|reveal|output|print|expose|collect|gather|extract|list|reply with|return)"
)
_TOOL_NAME = (
    r"(?:`?[a-z]{3,}(?:_[a-z]{2,}){1,4}`?(?:\(|\b)|(?:the |your |any |every |all )?[\w-]{0,20} ?(?:tool|function|plugin|"
    r"connector|api|command line|shell|browser|terminal|code interpreter)s?\b)"
)

CUES: tuple[Cue, ...] = (
    # Revoking earlier instructions of the model.
    _cue("override", 1.0, "ignore|disregard|forget|overrid|bypass|discard|set aside|attention|follow|drop|neglect|cancel|abandon|skip|obey|reset|erase|clear|unlearn|dismiss|void|overrule",
         _ORDER, r"(?:ignore|disregard|forget|override|overrule|bypass|discard|set aside|pay no attention to|"
         r"stop (?:following|obeying)|drop|do not (?:follow|obey)|don'?t (?:follow|obey)|neglect|cancel|abandon|skip|erase|clear|reset|unlearn|dismiss|void)\s+",
         _GAP, r"(?:previous|prior|earlier|above|preceding|existing|original|initial|former|foregoing|past|current|old|developer'?s?|"
         r"system(?:'s)?|safety|your|before|you (?:were|have been|had|got))\b[^.!?]{0,30}?\b(?:", _RULES, r"|given|told|taught|learned)\b"),
    _cue("override", 0.45, "ignore|disregard|forget|overrid|bypass|discard|stop",
         _ORDER, r"(?:ignore|disregard|forget|override|bypass|discard|stop)\s+(?!my |our |his |her |their )(?:[\w']{1,30} ){0,3}?(?:previous|prior|earlier|above|preceding|original|your|system|user'?s?|current|the)\s(?:[\w']{1,30} ){0,2}?", _TALK, r"\b"),
    _cue("override", 1.0, "ignore|disregard|forget",
         _ORDER, r"(?:ignore|disregard|forget)\s+(?:all |everything|anything|whatever)[^.!?]{0,40}?\b(?:above|before|told|said so far|instructed|so far|prior to|learned|preced)"),
    _cue("override", 0.9, "longer|obsolete|void|cancel|supersede|replace|precedence|outrank|invalid|revoked|lifted|expired|superior|priority|nullif|suspended|replaced|disabled|removed|deleted|outdated|nullified",
         r"\b(?:your|previous|prior|earlier|above|system|original|old|safety|all|these|developer'?s?)\s[^.!?]{0,30}?",
         r"\b(?:instructions?|rules|guidelines?|directives?|prompt|restrictions?|constraints?|guardrails?|safeguards?)\b[^.!?]{0,40}?"
         r"\b(?:no longer (?:apply|valid|count|matter|hold|in force|bind)|(?:is|are|were|was|been|now) (?:hereby )?(?:obsolete|void|cancell?ed|superseded|invalid|"
         r"revoked|lifted|expired|nullified|replaced|suspended|disabled|removed|deleted|outdated))"),
    _cue("override", 0.9, "precedence|priority|outrank|supersede|replace|override|overrule",
         r"\b(?:this|these|the following|what follows|it|they|below|here)\b[^.!?]{0,50}?\b(?:takes? (?:precedence|priority)|outranks?|supersedes?|replaces?|overrides?|overrules?|"
         r"(?:has|have) (?:precedence|priority))\b[^.!?]{0,40}?\b(?:system|previous|prior|earlier|above|your|instructions|rules|guidelines|developer)"),
    _cue("override", 0.8, "instruction|task|directive|role|objective|goal|rules|purpose|mission|prompt",
         r"\b(?:your|the|these|are)?\s*(?:new|real|actual|true|updated|revised) (?:instructions?|tasks?|directives?|role|objective|goal|rules|purpose|mission|(?:system )?prompt)\b\s*(?:is|are|begin|:|follow|now|-|—|below)"),
    _cue("persona", 0.65, "you are|you're|act as|behave|pretend|roleplay|role-play|simulate|imagine|become|persona|identity|emulate|assume|you will be|you'll be|your new",
         _ORDER, r"(?:you(?: are|'re| will be|'ll be) (?:now |no longer |hereby |henceforth |from now on |actually |really )+(?:[\w'-]{1,30} ){0,4}?(?:ai|model|assistant|bot|agent|dan|system|restrict\w{0,24}|filter\w{0,24}|unrestricted|unfiltered|free|bound|jailbroken|root|admin\w{0,24}|developer|mode|limited|chatbot|terminal|hacker|evil)\b|act as (?:an? |if )?(?:unrestricted|unfiltered|uncensored|evil|root|admin|though you|you (?:had|have) no|a system without|if you)"
         r"|(?:pretend|imagine|assume|simulate|roleplay|role-play|emulate|behave)\b[^.!?]{0,40}?(?:you (?:are|have|had|were)|unrestricted|unfiltered|no (?:rules|restrictions|limits|filters)|without (?:rules|restrictions|limits|filters|ethics))"
         r"|your new (?:identity|persona|name|role))"),
    _cue("persona", 0.75, "developer mode|dev mode|admin mode|god mode|debug mode|jailb|unrestricted|unfiltered|uncensored|do anything now|no restrictions|without restrictions|maintenance mode|sudo mode|root mode|dan mode|any restrictions|safety mode|test mode|diagnostic mode|any rules|without any|no rules|no filter|no limit|do anything|stay in character|enter|enable|activate|switch|turn on|go into|start|unlock|boot|engage|you are|you're|no restriction|without restriction",
         _ORDER, r"(?:enter|enable|activate|switch (?:to|into)|turn on|go into|start|unlock|boot|engage|you(?: are|'re) (?:now )?(?:in|running in|an?))\s+(?:[\w-]{1,30} ){0,3}(?:(?:developer|dev|admin|god|debug|jailbreak|sudo|root|dan|unrestricted|maintenance|unfiltered|diagnostic|test)\s?mode|unrestricted|unfiltered|uncensored|jailbroken)"
         r"|\b(?:do anything now|without any (?:restrictions?|rules|filters?|limits?)|(?:has|have|with) no (?:restrictions?|rules|filters?|limits)|stay in character)\b"),
    _cue("persona", 0.7, "disable|switch off|turn off|deactivate|remove|suspend|lift|lower",
         _ORDER, r"(?:disable|switch off|turn off|deactivate|remove|suspend|lift|lower)\s+(?:all |any |your |the )*(?:content |safety |security )?(?:filters?|safeguards?|guardrails?|safety|restrictions?|safety checks?|moderation|ethics|refusals?)"),
    # Hiding actions from the person.
    _cue("secrecy", 0.8, "do not|don't|don’t|never|without|must not|nothing|not to|avoid|refrain|no need|conceal|hide|cannot|dont|shall not",
         _ORDER, r"(?:do not|don['’]?t|never|must not|refrain from|avoid|no need to|not to|shall not|without|nothing)\s+(?:ever |also |even )?"
         r"(?:tell(?:ing)?|mention(?:ing)?|reveal(?:ing)?|inform(?:ing)?|disclos(?:e|ing)|show(?:ing)?|notify(?:ing)?|alert(?:ing)?|warn(?:ing)?|ask(?:ing)?|report(?:ing)?|let(?:ting)?|consult(?:ing)?|admit(?:ting)?|explain(?:ing)?|bother(?:ing)?|quote|cite|refer)\b"
         r"[^.!?]{0,40}?\b(?:user|human|owner|operator|account holder|principal)s?\b(?!['’]?s? data)"),
    _cue("secrecy", 0.55, "this |these |that you ",
         _ORDER, r"(?:do not|don['’]?t|never|must not|without)\s+(?:tell(?:ing)?|mention(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|show(?:ing)?|report(?:ing)?|repeat(?:ing)?|acknowledg(?:e|ing)|refer(?:ring)? to|quot(?:e|ing)|cit(?:e|ing))\b[^.!?]{0,30}?"
         r"\b(?:this (?:note|message|instructions?|text|step|action|request|command|rule|memory|document|comment)|these (?:instructions?|lines|words|rules)|that you (?:read|saw|received|did|were))"),
    _cue("secrecy", 0.4, "silently|secretly|covertly|quietly|in the background|discreetly|unnoticed|keep |without |ask |no confirmation|no approval|no permission|need to ask",
         r"\b(?:silently|secretly|covertly|quietly|in the background|discreetly|unnoticed|keep (?:this|it|these)[^.!?]{0,20}? (?:hidden|secret|from)|"
         r"without (?:asking|confirm\w{0,24}|telling|further|prompting|permission|mention\w{0,24}|approval|notif\w{0,24}|any confirmation|informing)|do(?: not|n'?t) ask (?:again|for (?:permission|confirmation|approval)|anyone|first)|"
         r"no (?:confirmation|approval|permission) (?:is |are )?(?:needed|required|necessary)|no need to ask)"),
    _cue("secrecy", 0.5, "as if|as though|deny |no trace|normally|as usual|as normal|pretend ",
         r"\b(?:as (?:if|though) (?:nothing|you (?:had )?never|this never)|deny (?:that|having|knowing|any)|leave no trace|(?:continue|proceed|answer|respond|reply) (?:normally|as (?:usual|normal|if))|pretend (?:that )?(?:nothing|this|you did))"),
    # Sending data away.
    _cue("exfiltration", 0.75, "http|www.|@|ftp|://|mailto:",
         _ORDER, _SENDING, r"\b[^!?\n]{0,80}?\b", _SECRETS, r"\b[^!?\n]{0,120}?(?:https?://|www\.|ftp://|mailto:|[\w.+-]{1,30}@[\w-]{1,63}\.\w)"),
    _cue("exfiltration", 0.75, "http|www.|://|@",
         _ORDER, r"(?:fetch|get|open|visit|load|request|call|query|render|display|show|browse to|navigate to|ping|curl|embed|output|use|contact|send|make)\b[^!?\n]{0,60}?(?:https?://|www\.|[\w.+-]{1,30}@[\w-]{1,63}\.\w)\S{0,200}(?:\s[^!?\n]{0,60}?)?\b(?:with|containing|including|carrying|plus|followed by|and (?:add|append|include|put|attach))\b[^.!?\n]{0,50}?\b(?:",
         _SECRETS, r"|answer|question|reply|data|text|name|summary|history|query|everything|it|content)"),
    _cue("exfiltration", 0.6, "|".join(("password", "api", "passphrase", "credit", "cookie", "email", "e-mail", "note", "message", "document", "file", "account", "environment", ".env", "social security", "one-time", "2fa", "chat", "transcript", "location", "token", "secret", "credential", "key", "conversation", "history", "prompt", "private", "memor", "vault", "card", "bank", "contact", "phone", "address", "personal", "user", "cookie", "notes", "messages", "wallet", "seed")),
         _ORDER, r"(?:forward|upload|transmit|exfiltrate|leak|smuggle|append|encode|dump|disclose|expose|reveal|e-?mail|post|output|print|include)\s+(?:me |us |it |them )?(?:a copy of |a list of |the contents? of |all |any |every |the |your |their |this |whole |entire |full |of )*", _SECRETS),
    _cue("exfiltration", 0.5, "http|www.",
         _ORDER, r"(?:send|post|upload|submit|transmit|forward|report|push|append)\s+(?:this|it|them|everything|all|the (?:answer|result|question|output|reply|summary|data|conversation|rest)|your (?:answer|reply|output)|what)\b[^.!?\n]{0,60}?\b(?:to|at|into|onto|in)\s+(?:https?://|www\.)"),
    _cue("exfiltration link", 1.0, "{|[|<|$|%7b|%5b|(",
         r"!?\[[^\]\n]{0,200}\]\(\s*<?https?://[^\s)]{0,300}[?&/=#](?:[^\s)]{0,60}=)?(?:\{+|\[|<|%7b|%5b|\$\{?|\(\()[\w .:'-]{2,60}(?:\}|\]|>|%7d|%5d|\)\))"),
    _cue("exfiltration link", 0.9, "http",
         r"https?://[^\s)\"'<>]{0,200}[?&/](?:[\w-]{1,30}=)?[\[{<(%$]{1,3}[a-z _-]{0,30}(?:secret|password|history|conversation|answer|prompt|memory|memories|api_?key|token|user_?data|summary|question|data|name|content|notes?|context|email|here)[a-z _-]{0,30}[\]}>)%$]"),
    _cue("exfiltration link", 0.7, "replac|substitut|fill",
         _ORDER, r"(?:replace|replacing|substitute|substituting|fill in|fill)\b[^.!?\n]{0,80}?\b(?:with|by)\b[^.!?\n]{0,50}?\b(?:", _SECRETS, r"|user|answer|question|base64|(?:url-?)?encoded)"),
    # Making the model call tools.
    _cue("tool call", 0.4, "_|tool|function|plugin|connector|shell|browser|terminal|interpreter|command line|api",
         _ORDER, r"(?:call|invoke|run|execute|trigger|use|launch|issue|fire|perform)\s+(?!another|other|third|different)(?:[\w'-]{1,30} ){0,3}?", _TOOL_NAME),
    _cue("tool call", 0.6, "(",
         r"\b(?:call|invoke|run|execute|action|tool|function|command)\b[\s:]*`?[a-z]{2,}(?:[_.][a-z]{2,}){1,4}\s*\(\s*[^)\n]{0,120}[=:'\"][^)\n]{0,200}\)"),
    _cue("tool call", 1.0, "<tool|<function|<invoke|tool_call|function_call|tool_use|<|antml|<parameter|[tool|action input|recipient_name|<use_|<action>|<command>|<execute|tool_code|```tool|```function|[/tool",
         r"<\s*/?\s*(?:antml:)?(?:tool_?calls?|tool_?use|function_?calls?|function=|invoke\b|parameter\b|use_mcp_tool|tool_?results?|tool_?response|execute_command|tool_code|action>|\|tool)|"
         r"\[/?tool_?(?:call|use|result)s?\]|<\|(?:tool|python|plugin|function)\w{0,24}\|>|\baction input\s*:|\"(?:tool_calls?|function_call|tool_use|recipient_name)\"\s*:|```(?:tool|tool_call|tool_code|function)\b"),
    _cue("tool call", 1.0, "\"tool|'tool|\"name|'name|\"function|'function|\"method|'method|\"action|'action",
         r"[\"'](?:tool|tool_name|name|function|method|action)[\"']\s*:\s*[\"'][a-z]+(?:[_./][a-z]+)*[\"']\s*,[^}]{0,80}?[\"'](?:arguments|parameters|params|args|input|tool_input|action_input)[\"']\s*:"),
    # Imitating roles and ends of documents.
    _cue("role", 1.0, "<|im_|[inst|<<sys|<|start|<|system|<|user|<|assistant|<|end|start_of_turn|end_of_turn|[/inst|<s>|<|eot|<|begin|<|header",
         r"<\|(?:im_start|im_end|system|user|assistant|endoftext|end|eot_id|start_header_id|begin_of_text|channel|message|sep|start|return|constrain)\|>|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>|<s>\s*\[|<\|[a-z_]{3,20}\|>"),
    _cue("role", 0.7, "<",
         r"<\s*/?\s*(?:system(?:[_-]?(?:prompt|message|instructions?|reminder|note|override|notice))?|assistant(?:[_-]?(?:instructions?|note))?|human|developer(?:[_-]message)?|(?:new|hidden|ai|agent|secret|important|admin|priority|override)[_-]?(?:instructions?|prompt|message|notes?|only)|system|admin|override|important|ai)\s*>"),
    _cue("role", 0.6, "system|developer|instruction|admin|root",
         r"(?:^|\n)[\s>*#_\-\[(|=]*(?:system (?:prompt|message|override|instructions?|notice|note|update|alert|role|command|directive)|developer(?: (?:message|note|instructions?))|(?:new |hidden |ai |assistant |llm |priority |secret )instructions?|admin(?:istrator)?(?: (?:message|note|override|command|instruction))?|root)\s*[\])*_#]*\s*(?::|\]|=>|>>|—|--)\s*\S"),
    _cue("role", 0.3, "system", r"(?:^|\n)[\s>*#_\-\[(|=]*system\s*[\])*_#]*\s*(?::|\]|=>|>>)\s*\S"),
    _cue("role", 0.4, "understood|sure, |okay, |new instruction|i will|i have|i must|i can",
         r"(?:^|\n)[\s>*#_\-\[(]*(?:assistant|ai|model|bot)[\])*_]*\s*:\s*[*_\"]*(?:understood|i (?:will|have|must|can) (?:now )?(?:ignor|compl|follow|obey|send|proceed|forward|delet|disregard)|sure, (?:i|here)|okay, (?:ignor|i will)|new instructions? (?:accepted|received))"),
    _cue("delimiter", 0.8, "end of|begin|</|end_|start of|=== |---|end |start",
         r"</\s*(?:context|memor(?:y|ies)|documents?|retrieved[\w-]{0,30}|results?|user_?(?:data|input|query|message)|data|notes?|untrusted[\w-]{0,30}|search[\w-]{0,30}|quote|source|input|content)\s*>\s*\S|"
         r"(?:(?<![-=#*\[<(])[-=#*\[<(]{2,80}|\[)\s*(?:end (?:of )?(?:the )?(?:context|memor(?:y|ies)|documents?|retrieved|results?|user|data|notes?|untrusted|search|quotation|input|content|system prompt|file|text|e-?mail|conversation|message)[^\n]{0,30}|(?:begin|start)(?:ning)? (?:of )?(?:the )?(?:new |real |system |privileged |trusted |admin |hidden )+(?:instructions?|prompt|message|section|context|session|conversation)[^\n]{0,30})"),
    _cue("authority", 0.5, "system|administrator|admin|developer|openai|anthropic|google|override|compliance|security|maintenance|microsoft|clearance|authori|vendor|message from|notice from|directive from|instruction from|order from|update from|note from|request from|root |emergency|operator|creator|owner|maker|granted|cleared|permitted|freed|unlocked|approved|consent|agreed",
         r"\b(?:(?:official |urgent |automated )?(?:message|notice|directive|instruction|order|update|note|request) from (?:the |your )?(?:system|administrators?|admins?|developers?|openai|anthropic|google|microsoft|meta|engineering|platform|operators?|vendor|security team|owner)\b|"
         r"(?:admin(?:istrator)?|system|security|root|emergency|operator) (?:override|protocol|directive|command)\b|as your (?:developer|administrator|admin|creator|operator|owner|maker)|"
         r"by order of (?:the )?(?:system|administrator|openai|anthropic|google|developers?)|(?:you (?:have been|are) )(?:granted|authori[sz]ed|cleared|permitted|freed|unlocked)|level[- ]\d+ clearance|(?:request|action|transfer|access|this) (?:is|was|has been) pre-?(?:authori[sz]ed|approved)|already (?:given |gave )?(?:consent(?:ed)?|approved|authori[sz]ed|agreed))"),
    _cue("disguise", 0.5, "decode|decrypt|decipher|unscramble|rot13|base64|backwards|reverse|convert|translate|read",
         _ORDER, r"(?:decode|decrypt|decipher|unscramble|convert|translate|read|reverse)\b[^.!?\n]{0,50}?\b(?:and|then)\s+(?:follow|obey|execute|run|do|carry out|act on|comply|perform)\b"),
    # Addressing the model.
    _cue("address", 0.6, _MODEL_NEEDS,
         r"(?:\b(?:attention|dear|hello|hey|hi|listen|note (?:to|for)|notes? to (?:any|the|all)|message (?:to|for)|instructions? (?:to|for)|for|to|calling|reminder (?:to|for)|warning to|memo to)\s*[,:]?\s+(?:any |all |every |the |an? |my |whichever |future |other |your )*", _MODEL,
         r"s?\s*(?:[:,!—–]|\b(?:reading|reads?|process|that|who|which|only|eyes|summari|index|pars|assist|answer|handl|review|see|access|scann|retriev|using|working)))"),
    _cue("address", 0.55, "if you|since you|because you|when you|whoever|as a|you, |once you|after you|as soon as you",
         r"\b(?:if|since|because|when) (?:you|whoever)(?: are|'re| is)? (?:an? |the |reading |any )?(?:[\w-]{1,30} )?", _MODEL, r"\b|\bas an? (?:good |helpful |large |obedient |loyal )?(?:", _MODEL, r")\b[,]? (?:you|please|it is)|\byou, (?:the |as |an? )?", _MODEL, r"\b"
         r"|\b(?:if|when|once|after|as soon as) you(?:'re| are)? (?:read|see|reading|seeing|process|retriev|load|summari|pars)\w{0,24}\s+(?:this|these|the following)"),
    _cue("address", 0.35, _MODEL_NEEDS,
         r"\b(?:any|every|all|the|an?|this|each|your)?\s*", _MODEL, r"s?(?: (?:reading|processing|summari[sz]ing|that (?:reads?|process\w{0,24}|retriev\w{0,24}|summari\w{0,24}|index\w{0,24}|sees?|handles?)|which (?:reads?|process\w{0,24})|who (?:reads?|process\w{0,24})|indexing|parsing|retrieving|assisting|answering|handling|reviewing|evaluating|in charge)[^.!?]{0,50}?)?\s+(?:must|should|shall|has to|have to|is (?:required|instructed|ordered|asked|obliged|expected|to)|are (?:required|instructed|ordered|asked|obliged|expected|to)|needs? to|will now|is hereby)\b"),
    # Standing orders.
    _cue("trigger", 0.5, "user|human|owner|customer|holder|operator|someone|anyone|anybody|person|reader|you're|you are",
         r"\b(?:when(?:ever)?|if|once|every time|each time|as soon as|the next time|upon|any ?time|should|in case)\b[^.!?\n]{0,25}?\b(?:the |your |this |any |an? )?(?:user|human|owner|customer|account holder|operator|someone|anyone|anybody|person|reader|you(?:'re| are))\b[^.!?\n]{0,60}?\b(?:asks?|asked|quer\w{1,24}|questions?|questioned|mentions?|says?|requests?|wants?|inquires?|types?|writes?|talks?|brings?)\b[^.!?\n]{0,80}?"
         r"(?:[,:;-]|\bthen\b)\s*(?:you (?:must|should|shall|will|have to|are to)|always|only|please|simply|just|do not|never|then|instead|silently|answer|reply|respond|say|tell|claim|state|recommend|suggest|mention|insist|send|run|call|give|direct|point|refer|promote|deny|refuse|show|reveal|use|add|provide|output|confirm|assert|steer|explain that)\b"),
    _cue("trigger", 0.5, "answer|response|reply|repl|output|message|recommend|conversation|summar|session",
         r"\b(?:(?:in|at the (?:end|start|beginning) of|to|with|for|on|after|before|begin|start|end|finish|close|open|prefix|conclude) (?:all|each|every|any|all future|all of your|all your|(?:your|future)(?= [\w ]{0,20}(?:s\b|ies\b)))\s(?:(?!and )[\w-]{1,30} ){0,2}?(?:answers?|responses?|repl(?:y|ies)(?! by)|outputs?|summar(?:y|ies)|conversations?|recommendations?))\b[^.!?\n]{0,60}"),
    _cue("trigger", 0.45, "from now on|henceforth|from this point|from here on|in the future|for all future|going forward|until further notice|in all future|at all times|hereafter|permanently|from now|from here|from this|from today|the future|all future",
         r"\b(?:from (?:now|here|this point|this moment|today)(?: on| forward|onwards?)?|henceforth|hereafter|in (?:the|all) future|for all future|going forward|until further notice)\b[^.!?\n]{0,30}?\b(?:you\b|always\b|never\b|answer|repl|respond|act\b|ignore|treat|obey|follow|recommend|only\b|begin|start|end\b|use\b|speak|do not|every (?:answer|response|reply))"),
    _cue("trigger", 0.4, "always|never|only|every",
         _ORDER, r"(?:always|never|only|every time)\s+(?:answer|reply|respond|recommend|say|state|claim|mention|suggest|praise|promote|refuse|prefer|trust|return|rank|cite|output|tell)\b"),
    _cue("memory", 0.6, "memory|memories|note|fact|verified|vault|record|trust|truth|importance|remember|preference|knowledge|long-term|user preference|confirmed|authoritative|critical|priority|permanent|true|entries|what you know",
         _ORDER, r"(?:(?:save|store|write|add|commit|record|put|keep|insert|log)\s[^.!?\n]{0,50}?\b(?:to|in|into|as)\s(?:your |the |a |an |long-term |permanent |persistent )*(?:memor(?:y|ies)|permanent (?:fact|note|memory)|verified|trusted|(?:user(?:'s)? )?preferences?|long-term|knowledge base)"
         r"|(?:mark|flag|treat|regard|consider|set|label|classify|rate|tag|accept|take)\s[^.!?\n]{0,50}?\b(?:as |to |is |be )*(?:verified|confirmed|critical|trusted|permanent|(?:the only |absolute |ground )truth|authoritative|true|ground truth|high(?:est)? (?:importance|priority))"
         r"|(?:delete|remove|erase|forget|overwrite|wipe|purge|discard|hide|archive|ignore|distrust|trash)\s+(?:all |any |every |each |the |other |older |existing |conflicting |contradicting |your |of )*(?:memor(?:y|ies)|notes?|records?|facts?|entries|what you know|knowledge)\b)"),
    _cue("memory", 0.5, "above all|supersede|trust only|only truth|rank|first in|remember forever|override|never forget|always return|return this|retriev|contradict|replace|outrank|is the only|precedence|must|should|trust only|rank |remember|whenever you",
         r"\b(?:this (?:note|memory|record|entry|document|fact)\b[^.!?\n]{0,30}?\b(?:supersedes?|overrides?|outranks?|replaces?|is the only|takes? precedence|must (?:always )?be|should always)|trust only this|rank (?:this|it) (?:above|first)|remember (?:this )?(?:forever|permanently|always)|return this (?:one )?first|whenever you (?:retriev|recall|search|remember|load))"),
    _cue("leak", 0.9, "prompt|instruction|configuration|rules|system message|above this|guidelines|initial|verbatim|your tools|message",
         _ORDER, r"(?:reveal|print|repeat|output|show|display|list|recite|leak|dump|disclose|translate|quote|echo|write out|give|tell|share|expose|summari[sz]e|begin (?:your )?(?:reply|answer) with|paste|copy|return)\s(?:me |us |out )?[^.!?\n]{0,50}?\b(?:your|system|hidden|initial|original|secret|developer(?:'s)?|full|exact|you were given|internal)\b[^.!?\n]{0,25}?\b(?:prompts?|instructions?|configuration|rules|system message|guidelines|messages?)\b"),
    _cue("leak", 0.6, "above|before|preceding|verbatim|word for word|you were given",
         _ORDER, r"(?:repeat|print|output|show|recite|copy|echo|write|list)\b[^.!?\n]{0,40}?\b(?:(?:everything|all|the text|the words|what is) (?:above|before|preceding)|verbatim|word for word|you were given)"),
    _cue("hijack", 0.55, "answer|reply|respon|continu|summari|summary|help|task|request|anything else|complet|output|print|write|say|return|replies",
         r"\b(?:instead of|rather than|before|prior to|without|stop|in place of)\s+(?:you (?:answer|reply|respond|continue)|answering|replying|responding|summari[sz]ing|helping|continuing|(?:doing|completing) (?:the|your|that) (?:task|request)|anything else)\b|"
         r"\b(?:do not|don't) (?:answer|summari[sz]e|respond to|help with|complete)\b[^.!?\n]{0,30}(?:question|quer|request|user|task|e-?mail|document|text)|"
         r"\b(?:reply|respond|answer|output|print|write|say|return)\s+(?:only|just|nothing but|exclusively|with (?:only|just|the (?:exact )?(?:word|words|phrase|text|sentence|string)))\b|"
         r"\byour (?:next |final |entire |whole |first |only )?(?:answer|response|reply|output|summary)\b[^.!?\n]{0,20}?\b(?:must|should|shall|has to|have to|needs to|is to|will)\b|\b(?:the )?(?:final|correct|only correct) (?:answer|output|response) (?:must|is|should|has)\b"),
    _cue("hijack", 0.5, "tell the user|convince|persuade|inform the user|ask the user|urge|direct the user|trick|make the user|tell your user|instruct the user|get the user|encourage the user|tell them to|tell the human|tell the reader|steer|the user to|the user that|user|human|owner|customer|account holder|person you",
         _ORDER, r"(?:tell|convince|persuade|urge|direct|trick|make|instruct|get|encourage|lead|steer|push|manipulate|pressure|assure)\s+(?:the |your |this |any )?(?:user|human|owner|customer|account holder|person you)s?\b"),
    # Frequent topics of attacks, none of them suspicious by itself.
    _cue("address", 0.2, "ai|llm|model|assistant|chatbot|agent|gpt|claude|gemini|copilot|bot", r"\b(?:ais?|llms?|(?:language|chat) models?|models? (?:that|which|reading|indexing)|assistants?|chatbots?|agents?|chatgpt|gpt|claude|gemini|copilot)\b"),
    _cue("mention of the user", 0.15, "user|owner|human|account holder|operator|requester|the person you", r"\b(?:(?:the|your|any|this) (?:users?|owner|human|account holder|operator|requester)|the person you)\b"),
    _cue("mention of secrets", 0.15, "password|key|token|credential|prompt|private|conversation|memor|contents of|all notes|every note|safeguard|restriction|system message|your rules|your guidelines|chat history|your instruction|messages|all note|each note|any note|other note", r"\b(?:passwords?|api keys?|access tokens?|credentials?|system prompt|system message|private notes?|(?:chat|conversation) history|conversation|all (?:private )?(?:notes|memories|messages)|(?:every|each|all|any|other) (?:notes?|memor(?:y|ies))|contents of the vault|safeguards?|restrictions|your (?:rules|instructions|guidelines|memory))\b"),
    _cue("mention of the answer", 0.2, "answer|reply|replies|respon|output|summar|recommend|question|request|retriev", r"\b(?:your (?:final |next |own )?(?:answers?|repl(?:y|ies)|responses?|outputs?|summar(?:y|ies)|recommendations?)|(?:all|every|each) (?:future )?(?:answers?|repl(?:y|ies)|responses?|questions?|requests?)|when you (?:summari|answer|reply|respond|retriev))"),
    _cue("mention of itself", 0.15, "this note|this message|this paragraph|this text|this memory|this file|this document|this record|this page|this entry|this sentence|this line|these lines|these words|the following|text below|steps below", r"\b(?:this (?:note|message|paragraph|text|memory|file|document|record|page|entry|sentence|line)|these lines|these words|the (?:following|text below|steps below))\b"),
    # Other languages: revoking instructions, secrecy, addressing the model.
    _cue("override", 1.0, "ignorier|vergiss|missacht|vergessen|beachte|uberschreib|verwirf|lass|halte dich|folge",
         r"\b(?:ignorier\w{0,24}|vergiss|vergessen sie|missachte\w{0,24}|beachte\w{0,24} nicht|uberschreib\w{0,24}|verwirf|lass\w{0,24}(?=[^.!?]{0,80}\b(?:ausser acht|beiseite)\b))\b[^.!?]{0,50}?\b(?:vorherig\w{0,24}|bisherig\w{0,24}|fruher\w{0,24}|obig\w{0,24}|vorig\w{0,24}|alle|samtlich\w{0,24}|deine|ihre|ursprunglich\w{0,24})\b[^.!?]{0,30}?\b(?:anweisung\w{0,24}|regeln?|vorgaben?|instruktion\w{0,24}|befehle?|richtlinien?|anleitung\w{0,24}|auftrage?|systemprompt)"
         r"|\b(?:beachten?|befolgen?|folgen?)\b[^.!?]{0,30}?\b(?:deine|ihre|bisherig\w{0,24}|vorherig\w{0,24}|obig\w{0,24})\b[^.!?]{0,20}?\b(?:anweisung\w{0,24}|regeln|vorgaben|instruktion\w{0,24}|befehle|richtlinien)[^.!?]{0,10}?\bnicht"
         r"|\bhalte dich nicht (?:mehr |langer )?an (?:deine|die (?:bisherig|vorherig|obig)\w{0,24})\b[^.!?]{0,20}?\b(?:anweisung\w{0,24}|regeln|vorgaben|instruktion\w{0,24}|befehle|richtlinien)"
         r"|\bvergiss alles,? was (?:man dir|dir\b[^.!?]{0,20}?\bwurde|du (?:weisst|gelernt|gelesen|bisher))"),
    _cue("override", 1.0, "ignor|oubli|pas compte|plus compte",
         r"\b(?:ignore[zr]?|oublie[zr]?|ne (?:tiens|tenez) pas compte)\b[^.!?]{0,50}?\b(?:instructions?|consignes?|regles?|directives?|ordres?)\b[^.!?]{0,30}?(?:precedent\w{0,24}|anterieur\w{0,24}|ci-dessus|recu\w{0,24}|initial\w{0,24}|systeme|donne\w{0,24}|de depart)|\b(?:ignore[zr]?|oublie[zr]?)\b[^.!?]{0,20}?\b(?:tes|vos|toutes?)\b[^.!?]{0,20}?\b(?:instructions?|consignes?|regles?|directives?)"),
    _cue("override", 1.0, "oubli|pas compte|plus compte|abstraction|outre|obei|suis p|suivez p|respecte|aucun compte",
         r"\boublie[zr]? tout ce (?:qu['’]on (?:t['’]|vous )a|qui (?:t['’]|vous )a ete|que tu (?:as|sais)|que vous (?:avez|savez))\b"
         r"|\b(?:ne (?:tiens|tenez|tenir) (?:pas|plus|aucun) compte|(?:fais|faites|faire) abstraction|passe[zr]? outre|n['’]obei\w{0,24} (?:pas|plus)|ne (?:suis|suivez|respecte[zr]?) (?:pas|plus))\b"
         r"[^.!?]{0,20}?\b(?:(?:tes|vos)\b[^.!?]{0,20}?\b(?:instructions?|consignes?|regles?|directives?|ordres?)\b|(?:instructions?|consignes?|regles?|directives?|ordres?|indications?) (?:precedent\w{0,24}|anterieur\w{0,24}|ci-dessus|recues?|initial\w{0,24}|du systeme|systeme|de depart))"),
    _cue("override", 1.0, "ignor|olvid|instruccion",
         r"\b(?:ignor[ae]n?|olvid[ae]n?)\b[^.!?]{0,50}?\b(?:instrucciones|reglas|ordenes|indicaciones|directrices|normas)\b[^.!?]{0,30}?(?:anterior\w{0,24}|previa\w{0,24}|recibid\w{0,24}|original\w{0,24}|de arriba|del sistema)?|\b(?:no hagas caso|descart[ae]|omit[ae])\b[^.!?]{0,50}?\binstrucciones\b"),
    _cue("override", 1.0, "caso|descart|omit|en cuenta|no sigas|no obede|olvid",
         r"\b(?:no hagas caso|haz caso omiso|hagan caso omiso|descart[ae]|omit[ae]|no (?:tengas?|tomes?) en cuenta|no (?:sigas|obedezcas))\b"
         r"[^.!?]{0,20}?\b(?:(?:tus|sus|todas las)\b[^.!?]{0,20}?\b(?:instrucciones|reglas|ordenes|indicaciones|directrices|normas)\b|(?:instrucciones|reglas|ordenes|indicaciones|directrices|normas) (?:anterior\w{0,24}|previa\w{0,24}|recibid\w{0,24}|original\w{0,24}|de arriba|del sistema))"
         r"|\bolvid[ae] todo lo (?:anterior|que (?:se )?(?:te|le) (?:han?|dijeron|haya)|que (?:has|ha) (?:aprendido|leido)|que sabes)\b"),
    _cue("override", 1.0, "ignor|dimentic|istruzion",
         r"\b(?:ignora(?:re|te)?|dimentica(?:re|te)?)\b[^.!?]{0,50}?\b(?:istruzioni|regole|ordini|direttive|indicazioni)\b|\b(?:trascura|non seguire)\b[^.!?]{0,50}?\bistruzioni\b"),
    _cue("override", 1.0, "trascura|non segui|conto|perdere|disattend|non obbed|dimentica|scorda",
         r"\b(?:trascura(?:re|te)?|non segui(?:re|te)|non (?:tener|tenere|tenete) conto|lascia(?:te)? perdere|disattend(?:i|ere|ete)|non obbedi(?:re|te))\b"
         r"[^.!?]{0,20}?\b(?:(?:tue|tuoi|vostre|tutte le)\b[^.!?]{0,20}?\b(?:istruzioni|regole|ordini|direttive|indicazioni)\b|(?:istruzioni|regole|ordini|direttive|indicazioni) (?:precedent\w{0,24}|anterior\w{0,24}|di cui sopra|qui sopra|ricevut\w{0,24}|inizial\w{0,24}|original\w{0,24}|d[ie]l? sistema))"
         r"|\b(?:dimentica(?:te)?|scorda(?:ti)?) tutto (?:cio|quello|quanto) (?:che )?(?:(?:ti|vi) (?:e stato|hanno|ha)|hai (?:imparato|letto|ricevuto)|sai)\b"),
    # The same without saying which: by itself no more than half a sign.
    _cue("override", 0.6, "descart|omit|no hagas caso|trascura|pomin",
         _FOREIGN_ORDER, r"(?:(?:descart[ae]|omit[ae]|no hagas caso de) (?:las )?(?:reglas|ordenes|indicaciones|directrices|normas)|trascura (?:le |gli )?(?:regole|ordini|direttive|indicazioni)|pomin (?:zasad\w{0,24}|regul\w{0,24}|polece\w{0,24}|wytyczn\w{0,24}))\b"),
    _cue("override", 1.0, "ignor|esquec|desconsider|instruc",
         r"\b(?:ignor[ae]m?|esquec[ae]m?|desconsider[ae]m?)\b[^.!?]{0,50}?\b(?:instrucoes|regras|ordens|diretrizes|orientacoes)\b"),
    _cue("override", 1.0, "em conta|em consider|nao sig|nao obede|descart|omit|esquec",
         r"\b(?:nao (?:leves?|levem|tenhas?) em (?:conta|consideracao)|nao (?:sigas?|sigam|obedec\w{1,24})|descart[ae]|omit[ae])\b"
         r"[^.!?]{0,20}?\b(?:(?:tuas|suas|todas as)\b[^.!?]{0,20}?\b(?:instrucoes|regras|ordens|diretrizes|orientacoes)\b|(?:instrucoes|regras|ordens|diretrizes|orientacoes) (?:anterior\w{0,24}|previa\w{0,24}|recebid\w{0,24}|originais|acima|do sistema))"
         r"|\besquec[ae] tudo o que (?:(?:te|lhe) (?:disseram|foi)|foi dito|voce (?:aprendeu|leu|sabe)|sabes|aprendeste)\b"),
    _cue("override", 1.0, "negeer|vergeet", r"\b(?:negeer|vergeet)\b[^.!?]{0,50}?\b(?:instructies|regels|aanwijzingen|opdrachten|richtlijnen)\b"),
    _cue("override", 1.0, "rekening|niet aan|niet meer aan|niet langer aan|vergeet",
         r"\bhou[d]? (?:geen rekening (?:meer )?met|je niet (?:meer |langer )?aan)\b[^.!?]{0,20}?\b(?:je|jouw|uw|vorige|eerdere|bovenstaande)\b[^.!?]{0,20}?\b(?:instructies|regels|aanwijzingen|opdrachten|richtlijnen)\b|\bvergeet alles wat (?:je (?:is|werd|hebt|weet)|men je|jou is)\b"),
    _cue("override", 1.0, "ignorera|glom|bortse|ignorer|glem|instrukti", r"\b(?:ignorera?|glom|bortse fran|glem)\b[^.!?]{0,50}?\b(?:instruktion\w{0,24}|regler\w{0,24}|anvisning\w{0,24}|order|instruks\w{0,24})\b"),
    _cue("override", 1.0, "ignoruj|zapomnij|pomin", r"\b(?:z?ignoruj\w{0,24}|zapomnij)\b[^.!?]{0,50}?\b(?:instrukcj\w{0,24}|polece\w{0,24}|zasad\w{0,24}|regul\w{0,24}|wytyczn\w{0,24})|\bpomin\b[^.!?]{0,50}?(?:\binstrukcj\w{0,24}|\b(?:wszystkie|poprzedni\w{0,24}|wczesniejsz\w{0,24}|powyzsz\w{0,24}|swoje|twoje|systemow\w{0,24})\b[^.!?]{0,20}?\b(?:polece\w{0,24}|zasad\w{0,24}|regul\w{0,24}|wytyczn\w{0,24}))"),
    _cue("override", 1.0, "yoksay|unut|talimat|yok say|dikkate alma|gormezden gel", r"\b(?:talimat\w{0,24}|kural\w{0,24}|yonerge\w{0,24}|komut\w{0,24})\b[^.!?]{0,40}?\b(?:yoksay\w{0,24}|yok say\w{0,24}|unut\w{0,24}|dikkate alma(?:yin(?:iz)?)?\b|gormezden gel(?:in(?:iz)?)?\b)"),
    _cue("override", 1.0, "игнор|забуд|не обращай", r"(?:игнорируй\w{0,24}|проигнорируй\w{0,24}|забудь\w{0,24}|не обращай\w{0,24} внимания)[^.!?]{0,50}?(?:инструкци\w{0,24}|указани\w{0,24}|правил\w{0,24}|команд\w{0,24})"),
    _cue("override", 1.0, "не учитывай|не следуй|не соблюдай|пренебре|не выполняй|забудь",
         r"(?:не (?:учитывай|следуй|соблюдай|выполняй)\w{0,24}|пренебреги\w{0,24})[^.!?]{0,20}?(?:сво[ией]\w{0,24}|тво[ией]\w{0,24}|ваш\w{0,24}|предыдущ\w{0,24}|прежн\w{0,24}|системн\w{0,24})[^.!?]{0,20}?(?:инструкци\w{0,24}|указани\w{0,24}|правил\w{0,24}|команд\w{0,24})|забудь\w{0,24} (?:все|всё),? что (?:тебе (?:говорили|сказали|было сказано)|ты знаешь)"),
    _cue("override", 1.0, "ігнор|забуд|інструкц", r"(?:ігноруй\w{0,24}|проігноруй\w{0,24}|забудь\w{0,24})[^.!?]{0,50}?(?:інструкці\w{0,24}|вказівк\w{0,24}|правил\w{0,24})"),
    _cue("override", 1.0, "忽略|无视|忘记|忘掉|抛弃|無視|忘れ|不要理会|無効|忽視|不要遵|破棄|従",
         r"(?:忽略|无视|忽視|無視|不要理会|不要遵(?:守|循)|(?<![别勿没会])(?<!不要)(?:忘记|忘掉|抛弃)[^。！？\n]{0,8}?(?:之前|以前|先前|上面|上述|所有|一切|你的|系统))[^。！？\n]{0,20}?(?:指令|指示|规则|規則|提示|命令|说明|要求|限制|设定|內容|内容)|(?:指示|命令|ルール|プロンプト|指令|規則|設定|制約)[^。！？\n]{0,14}?(?:無視|忘れ|破棄し|無効|従わな(?:いで|いこと|くて[いよ])|従うな)"),
    _cue("override", 1.0, "무시|잊|따르지", r"(?:지시|명령|규칙|지침|프롬프트)[^.!?\n]{0,20}?(?:무시|잊|따르지 ?(?:마|말))|(?:무시하고|잊고)"),
    _cue("override", 1.0, "تجاهل|انس|اهمل", r"(?:تجاهل|انس|اهمل)[^.!?؟\n]{0,40}?(?:التعليمات|الأوامر|القواعد|تعليمات|الاوامر|التوجيهات)"),
    _cue("override", 1.0, "निर्देश|अनदेखा|नजरअंदाज|नज़रअंदाज", r"(?:नियम|आदेश)\S{0,30}[^.!?।\n]{0,40}?(?:अनदेखा|नजरअंदाज|नज़रअंदाज)|निर्देश\S{0,30}[^.!?।\n]{0,40}?(?:अनदेखा|नजरअंदाज|नज़रअंदाज|भूल|उपेक्षा)"),
    _cue("override", 1.0, "bo qua|quen|abaikan|lupakan|puuttele|unohda|jata huomiotta|ala noudata|figyelmen", r"\b(?:bo qua|quen|hay quen)\b[^.!?]{0,40}?(?:huong dan|chi dan|chi thi|lenh|quy tac)|\b(?:abaikan|lupakan)\b[^.!?]{0,40}?\b(?:instruksi|perintah|aturan|arahan)|\b(?:unohda|jata huomiotta|ala noudata)\b[^.!?]{0,40}?\b(?:ohje\w{0,24}|saanno\w{0,24}|kasky\w{0,24})|figyelmen kivul[^.!?]{0,40}?(?:utasitas\w{0,24}|szabaly\w{0,24})"),
    # The same in languages without cues of their own.
    _cue("override", 1.0, "ignor|zanemar|занемар|игнори|αγνό|αγνο|puuza|balewalain",
         r"\b(?:ignoruj\w{0,4}|ignora(?:ti|u)?|ignorati\w{0,3}|ignoreu|ignoru|ignoris\w{0,4}|ignoriraj\w{0,4}|zanemari\w{0,4}|занемари\w{0,4}|игнориш\w{0,4}|игнорирай\w{0,4})\b[^.!?]{0,50}?\b(?:pokyn\w{0,4}|instrukc\w{0,6}|instruccions|instructiun\w{0,6}|uput\w{0,6}|упут\w{0,6}|инструкци\w{0,4}|указани\w{0,4}|prikaz\w{0,4})\b"
         r"|\bαγν[οό]ήσ\w{0,6}[^.!;]{0,50}?(?:οδηγί|εντολ|κανόν)\w{0,5}|\bαγνόησ\w{0,6}[^.!;]{0,50}?(?:οδηγί|εντολ|κανόν)\w{0,5}|\bpuuza\b[^.!?]{0,40}?\b(?:maagizo|maelekezo|amri)\b|\bbalewalain\b[^.!?]{0,50}?\b(?:tagubilin|utos|panuto)\b"),
    _cue("override", 1.0, "התעלם|התעלמ|เพิกเฉย|উপেক্ষা|نادیده|انداز|புறக்கணி",
         r"(?:התעלם|התעלמ[יו])[^.!?\n]{0,40}?(?:הוראות|הנחיות|כללים)|เพิกเฉย[^.!?\n]{0,20}?(?:คําสั่ง|คำสั่ง|คําแนะนํา)|(?:নির্দেশ|নিয়ম)[^.!?।\n]{0,30}?উপেক্ষা ?কর|(?:دستور|قوانین|فرمان)[^.!?؟\n]{0,40}?نادیده ?بگیر|(?:ہدایات|احکام)[^.!?؟۔\n]{0,40}?نظر ?انداز ?کر|(?:வழிமுறை|அறிவுறுத்தல்|கட்டளை)[^.!?\n]{0,40}?புறக்கணி"),
    _cue("secrecy", 0.7, "nutzer|anwender|utilisateur|usuario|utente|gebruiker|anvandar|usuario|uzytkownik|пользовател|用户|使用者|ユーザ|사용자|المستخدم|उपयोगकर्ता|kullanici",
         r"\b(?:sag\w{0,24}|teil\w{0,24}|erwahn\w{0,24}|informier\w{0,24}|verrat\w{0,24}|zeig\w{0,24}|frag\w{0,24})\b[^.!?]{0,40}?\b(?:nutzer\w{0,24}|benutzer\w{0,24}|anwender\w{0,24})\b[^.!?]{0,30}?\b(?:nichts?|nie|niemals|kein\w{0,24})\b|\bohne (?:den |die )?(?:be)?nutzer\w{0,24}[^.!?]{0,20}?(?:fragen|informieren|wissen)|(?:ohne|nicht|nichts|niemals)[^.!?]{0,40}?\b(?:be)?nutzer\w{0,24}[^.!?]{0,30}?(?:sagen|mitteilen|informieren|verraten|fragen|erwahnen|wissen)|"
         r"\bne (?:dis|dites|parle\w{0,24}|mentionne\w{0,24}|revele\w{0,24}|previen\w{0,24}|informe\w{0,24})\b[^.!?]{0,40}?\butilisateur|\bsans (?:en )?(?:informer|prevenir|demander|avertir)[^.!?]{0,20}?utilisateur|"
         r"\b(?:no (?:le )?(?:digas|menciones|informes|reveles|avises|cuentes|diga|mencione)|sin (?:avisar|informar|preguntar|decir))\b[^.!?]{0,40}?\busuario|\b(?:non (?:dire|dirlo|menzionare|informare|rivelare|avvisare)|senza (?:avvisare|informare|chiedere|dire))\b[^.!?]{0,40}?\butente|\b(?:nao (?:diga|conte|mencione|informe|revele)|sem (?:avisar|informar|perguntar))\b[^.!?]{0,40}?\busuario|"
         r"\b(?:vertel|zeg|meld)\b[^.!?]{0,40}?\bgebruiker\b[^.!?]{0,20}?\b(?:niets|niet)|(?:не (?:говори|сообщай|упоминай|рассказывай|показывай)\w{0,24})[^.!?]{0,40}?пользовател|(?:不要|不得|别|勿|禁止)[^。！？\n]{0,10}?(?:告诉|告知|通知|透露|提及|向)[^。！？\n]{0,10}?(?:用户|使用者)|ユーザー?[^。！？\n]{0,12}?(?:知らせ|伝え|教え|言わ|告げ|通知)[^。！？\n]{0,6}?(?:ない|ず|せず|な)|사용자[^.!?\n]{0,12}?(?:알리지|말하지|묻지|알려)|(?:لا تخبر|دون إخبار|لا تذكر)[^.!?\n]{0,20}?المستخدم|\bkullanici\w{0,24}[^.!?]{0,30}?(?:soyleme|bildirme|haber verme)"),
    _cue("address", 0.6, " ki|sprachmodell|assistent|modele de langage|assistant|modelo de lenguaje|asistente|modello linguistic|assistente|modelo de linguagem|taalmodel|ассистент|языковая модель|помощник|ии|модел|modell|'ia|’ia|chatbot|人工智能|语言模型|助手|助理|模型|アシスタント|モデル|ai|인공지능|어시스턴트|\nki|atencion|importante p|nota p|instruc|mensaje|querid|istruzion|messaggio|attenzione|atencao|mensagem|message |important|note a|note pour|attention|cher|a tout|a chaque",
         r"\b(?:an|achtung|hinweis (?:an|fur)|anweisung (?:an|fur)|liebe[rs]?|als)\s+(?:alle |jede[ns]? |die |den |das )?(?:ki(?:-\w{1,24})?|sprachmodelle?|assistent\w{0,24}|chatbots?)\b|\b(?:attention|important(?:e)? pour|note (?:a|pour)|instruction\w{0,24} (?:a|pour)|message (?:a|pour)|cher|chere|a tout|a chaque) (?:l['’])?(?:toute? |chaque )?(?:assistant|\bia\b|modele de langage)|\b(?:atencion|importante para|nota para|instruccion\w{0,24} para|mensaje para|querid[oa])\b[^.!?\n]{0,14}?(?:asistente|\bia\b|modelo de lenguaje)|\b(?:attenzione|importante per|nota per|istruzion\w{0,24} per|messaggio per)\b[^.!?\n]{0,14}?(?:assistente|\bia\b|modello)|\b(?:atencao|importante para|nota para|instruc\w{0,24} para|mensagem para)\b[^.!?\n]{0,14}?(?:assistente|\bia\b|modelo)|(?:ассистент|языковая модель|помощник|ии)\s*[,:!]|(?:внимание|инструкция для|сообщение для)[^.!?\n]{0,14}?(?:ассистент|ии|модел)|(?:致|请|注意|作为)[^。！？\n]{0,6}?(?:ai|人工智能|语言模型|助手|助理|模型)|(?:ai|アシスタント|言語モデル|モデル)(?:へ|は|宛|の皆|に対する)[^。！？\n]{0,20}?(?:指示|こと|ください|しなさい|注意|必ず|せよ)|(?:ai|인공지능|어시스턴트)[^.!?\n]{0,10}?(?:에게|는 반드시|님)"),
    _cue("exfiltration", 0.7, "http|www.|@",
         r"\b(?:sende\w{0,24}|schick\w{0,24}|ubermitt\w{0,24}|leite\w{0,24}|(?:r?envoie|transfere)\w{0,24}|r?envoyez|transmet\w{0,24}|(?:re)?envi[ae]\w{0,24}|manda\w{0,24}|invia\w{0,24}|inoltra\w{0,24}|encaminh[ae]\w{0,24}|envie\w{0,24}|stuur\w{0,24}|verzend\w{0,24}|skicka\w{0,24}|wyslij\w{0,24}|отправь\w{0,24}|отправляй\w{0,24}|перешли\w{0,24}|发送|發送|发到|送信|送って|전송|보내|أرسل|gonder\w{0,24})(?!\w)?[^\n]{0,120}?(?:https?://|www\.|[\w.+-]{1,30}@[\w-]{1,63}\.\w)|(?:https?://|www\.|[\w.+-]{1,30}@[\w-]{1,63}\.\w)\S{0,100}(?:\s[^\n]{0,30}?)?(?:送信|送って|转发|发送|전송|보내|gonder|senden|schicken|weiterleiten)"),
    _cue("address", 0.6, "si tu es|si vous etes|wenn du|falls du|wenn sie|falls sie|si eres|si usted es|se sei|se voce|se es|als je|als u|als jij|indien|если ты|если вы|如果你|あなたが|なら|である",
         r"\b(?:si (?:tu es|vous etes)|si (?:eres|usted es)|se (?:sei|voce e|voce for|es)|(?:wenn|falls) (?:du|sie)|(?:als|indien) (?:jij|je|u))\s(?:une? |une |una |uma |ein |eine |een |un['’] ?)?(?:ia|ki|ai|llm|gpt|(?:modele|modelo) de (?:langage|lenguaje|linguagem)|modello linguistico|sprachmodell|taalmodel|chatbot|agent (?:ia|ki|ai)|(?:assistant|assistente?|asistente)(?= (?:d['’]?ia|de ia|ia|ai|ki|virtu\w{1,24}|digital\w{0,24}|numerique)|[,:]))\b"
         r"|если (?:ты|вы) ?(?:[—–-] ?|это )?(?:ии|ассистент|языковая модель|чат-бот|нейросеть)|如果你是[^。，,]{0,6}?(?:ai|人工智能|语言模型|助手)|あなたが(?:ai|言語モデル|アシスタント)|(?:ai|言語モデル|アシスタント)(?:である|なら)"),
    _cue("persona", 1.0, "es usted|sei|eres|tu es|vous etes|bist|sind|voce|bent|теперь ты|ты теперь|отныне ты|你现在是|あなたは",
         r"\b(?:(?:tu es|vous etes) (?:maintenant|desormais|dorenavant|a present)|ahora (?:eres|es usted)|(?:ora|adesso) sei|sei (?:ora|adesso)|d['’]ora in poi sei|(?:agora voce e|voce agora e|a partir de agora voce e)|(?:a partir de ahora|desde ahora) eres|(?:du bist|sie sind) (?:jetzt|nun|ab jetzt|ab sofort|von nun an)|(?:ab jetzt|ab sofort|von nun an) (?:bist du|sind sie)|(?:je|jij|u) bent (?:nu|voortaan|vanaf nu))\b"
         r"[^.!?\n]{0,40}?\b(?:assistant|assistente?\w{0,24}|asistente|ia|ki|ai|model\w{0,24}|chatbot|agente?)\b[^.!?\n]{0,20}?\b(?:sans|sin|senza|sem|ohne|zonder)\b[^.!?\n]{0,20}?\b(?:restri\w{0,24}|filtr\w{0,24}|filter\w{0,24}|regle\w{0,24}|regla\w{0,24}|regol\w{0,24}|regra\w{0,24}|regeln?|regels|limit\w{0,24}|censur\w{0,24}|zensur|einschrankung\w{0,24}|beperking\w{0,24})"
         r"|(?:теперь ты|ты теперь|отныне ты)[^.!?\n]{0,40}?(?:ассистент|помощник|ии|модель|бот)[^.!?\n]{0,20}?без (?:ограничен|правил|фильтр|цензур)|你现在是[^。！？\n]{0,20}?(?:没有|不受|无)[^。！？\n]{0,8}?(?:限制|约束)|あなたは(?:今|これ)から[^。！？\n]{0,20}?(?:制限|制約|ルール)の?な(?:い|し)"),
    _cue("trigger", 0.45, "maintenant|desormais|dorenavant|ora in poi|adesso in poi|de ahora|en adelante|de agora|ab jetzt|ab sofort|von nun an|vanaf nu|voortaan|отныне|с этого момента|从现在|从今|今後|これから",
         r"\b(?:a partir de maintenant|desormais|dorenavant|d['’]ora in poi|da adesso in poi|a partir de (?:ahora|agora)|de ahora en adelante|de agora em diante|ab jetzt|ab sofort|von nun an|vanaf nu|voortaan)\b[^.!?\n]{0,30}?\b(?:tu|vous|repond\w{0,24}|devi|rispond\w{0,24}|debes|debe|respond\w{0,24}|deves?|voce|du|sie|antworte\w{0,24}|je|jij|u|antwoord\w{0,24})\b"
         r"|(?:отныне|с этого момента)[^.!?\n]{0,30}?(?:ты|вы|отвечай)|从(?:现在起|现在开始|今以后|今往后)[^。！？\n]{0,20}?(?:你|回答)|(?:今後|これから)[^。！？\n]{0,20}?(?:あなた|回答|答え)"),
    _cue("hijack", 0.6, "must|should|shall|have to|dois|devez|devi|debe|deve|musst|sollst|mussen|sollen|moet|долж|必须|ければならない",
         r"\byou (?:must|should|shall|have to) (?:always )?(?:answer|reply|respond|say|claim) that (?:the|it|he|she|we|they|this|there)\b|\b(?:tu dois|vous devez|devi|debes?|deves?|voce deve) (?:toujours |sempre |siempre )?(?:repondre|affirmer|rispondere|affermare|responder|afirmar) (?:que|qu|che)\b|\b(?:musst|sollst|mussen|sollen) (?:du|sie) (?:immer )?(?:antworten|behaupten),? dass\b|\bmoet (?:je|jij|u) (?:altijd )?(?:antwoorden|beweren) dat\b|(?:ты|вы) долж\w{1,24} (?:всегда )?(?:отвечать|утверждать),? что|你必须(?:回答|声称)|と(?:答え|回答し)なければならない"),
    _cue("memory", 0.5, "delete|erase|supprime|efface|losche|borra|elimina|cancella|apaga|apague|exclua|verwijder|wis |удали|сотри|删除|削除",
         _FOREIGN_ORDER, r"(?:(?:delete|erase) (?:this|all|every|the) (?:notes?|memor(?:y|ies))|(?:supprime|efface)[zr]? (?:cette|toutes les|la) (?:notes?|memoires?)|losche[n]? (?:diese|alle) notiz(?:en)?|(?:borra|elimina) (?:esta|todas las) notas?|(?:cancella|elimina) (?:questa|tutte le) not[ae]|(?:apag(?:a|ue)|exclua) (?:esta|todas as) notas?|(?:verwijder|wis) (?:deze|alle) (?:notities|notitie)|(?:удали|сотри)\w{0,24} (?:эту|все) замет\w{0,24})\b|删除(?:这|该|所有|全部)[^。！？\n]{0,6}?(?:笔记|记忆)|(?:この|すべての|全ての)(?:ノート|メモ)を?削除"),
    _cue("leak", 0.9, "prompt|промпт|系统提示|プロンプト",
         r"\b(?:affich\w{0,24}|montr\w{0,24}|revel\w{0,24}|imprim\w{0,24}|zeig\w{0,24}|verrat\w{0,24}|nenn\w{0,24}|gib|muestr\w{0,24}|mostr\w{0,24}|rivel\w{0,24}|stampa\w{0,24}|toon|laat)\b[^.!?\n]{0,30}?\b(?:prompt (?:du |de |del |di |do )?(?:systeme|sistema)|(?:deinen|ihren|den) (?:system-?)?prompt|(?:tu|tuo|ton|votre|seu|je|jouw) (?:systeem)?prompt|systeemprompt)\b|(?:покажи|выведи|раскрой)\w{0,24}[^.!?\n]{0,20}?системн\w{1,24} промпт|(?:显示|输出|告诉我)[^。！？\n]{0,10}?系统提示|システムプロンプトを(?:表示|出力|教え)"),
    _cue("mention of secrets", 0.15, "mots de passe|mot de passe|contrasena|passwort|passworter|kennw|senha|wachtwoord|парол|密码|パスワード",
         r"\b(?:mots? de passe|contrasenas?|passwort|passworter|kennwort\w{0,24}|senhas?|wachtwoord(?:en)?)\b|парол\w{0,24}|密码|パスワード"),
    _cue("tool call", 0.5, "_", r"(?:ruf\w{0,24}|fuhr\w{0,24}|nutze|verwende|appelle\w{0,24}|execute\w{0,24}|utilise\w{0,24}|llama|ejecuta\w{0,24}|usa|utiliza|chiama|esegui\w{0,24}|chame|roep|вызови\w{0,24}|выполни\w{0,24}|используй\w{0,24}|调用|執行|执行|呼び出|実行|호출|실행)[^.!?\n]{0,30}?\b[a-z]{3,}_[a-z_]{3,}|\b[a-z]{3,}_[a-z_]{3,}`?[^.!?\n]{0,10}?(?:aufrufen|ausfuhren|を実行|を呼び出|를 호출|을 실행)"),
)  # fmt: skip
_NEEDS = frozenset(need for cue in CUES for need in cue.needs)

# Strong wordings without spaces, for text with gaps or marks between its letters.
SQUEEZED = re.compile(
    r"(?:ignore|disregard|forget|override|bypass)(?:all|any|the|your|of|everything|these){0,3}(?:previous|prior|above|earlier|preceding|existing|system)(?:system)?(?:instruction|rule|prompt|guideline|direction|order|command|directive)"
    r"|(?:donot|dont|never)(?:tell|inform|notify|alert|mentionthisto)the(?:user|owner|human)|revealyoursystemprompt|youarenowdan(?:mode)?|(?:print|repeat|output|show)yoursystemprompt"
)

_ABOUT = re.compile(
    r"prompt[- ]?injections?|injection attacks?|jailbreak\w{0,24}|red[- ]?team\w{0,24}|adversarial|phishing|owasp|attack(?:s|ers?|ed)?\b|"
    r"malicious|vulnerabilit\w{1,24}|exploits?\b|threat model|security (?:research|talk|paper|review|training|note|lecture|course|blog)|"
    r"prompt[- ]?engineering|untrusted|payloads?|guardrails?|angriff\w{0,24}|sicherheits\w{1,24}|attaques?|ataques?|攻撃|攻击|インジェクション|注入"
)  # fmt: skip
_WINDOW = 4_000  # characters in which matches start
_LONGEST = 1_000  # characters after them that are read, too
_REACH = 400  # characters before and after a needed text that are read; no match is as long
_ADDRESS = re.compile(
    r"https?://\S{1,500}|[\w.+-]{1,64}@[\w.-]{1,100}|\b[\w-]{1,40}(?:\.[\w-]{1,40}){1,5}\b"
)
_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|``[^\n]{1,400}?``|`[^`\n]{1,400}`|\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|„[^“”\n]{1,400}[“”]|«[^»\n]{1,400}»|‘[^’\n]{8,400}’|「[^」\n]{1,400}」|『[^』\n]{1,400}』"
    r"|(?<=\s)'[^'\n]{8,400}'",
    re.DOTALL,
)


def cues_in(folded: str, on_step: Callable[[], None] = lambda: None) -> Iterator[CueMatch]:
    """The matches of all cues in the folded text.

    Each cue is matched only around the texts that it needs, and in windows, so that no pattern
    takes time quadratic in the length of the text.

    Args:
        on_step: is called now and then; it may raise an error to stop.
    """
    places = {
        need: [match.start() for match in re.finditer(re.escape(need), folded)]
        for need in _NEEDS
        if need in folded
    }
    on_step()
    for cue in CUES:
        needed = sorted(place for need in cue.needs for place in places.get(need, ()))
        after = 0  # end of the last match
        for first, last in _windows(needed, len(folded)):
            for match in cue.pattern.finditer(folded, max(first, after), last):
                if match.start() >= first + _WINDOW:
                    break
                after = match.end()
                yield CueMatch(cue.kind, cue.weight, match.start(), match.end())
        if needed:
            on_step()


def _windows(places: Sequence[int], length: int) -> Iterator[tuple[int, int]]:
    """The stretches of a text in which a match around one of these places can begin and end.

    Args:
        places: in order.
    """
    index = 0
    while index < len(places):
        first = max(0, places[index] - _REACH)
        last = places[index] + _REACH
        while index < len(places) and places[index] - _REACH <= last:
            last = places[index] + _REACH
            index += 1
        for start in range(first, last, _WINDOW):
            yield start, min(length, last, start + _WINDOW + _LONGEST)


def orders(kind: str) -> bool:
    """Whether cues of this kind are part of an order, rather than a topic of orders."""
    return not kind.startswith("mention")


def talk_of_attacks(folded: str) -> list[tuple[int, int]]:
    """The spans of words about attacks on models, near which a text may quote attacks.

    Words within URLs and email addresses do not count.
    """
    without_addresses = _ADDRESS.sub(lambda match: " " * len(match[0]), folded)
    return [match.span() for match in _ABOUT.finditer(without_addresses)]


def quotations(text: str) -> list[tuple[int, int]]:
    """The spans in quotation marks or code, in order."""
    return [match.span() for match in _QUOTED.finditer(text)]
