"""The types of notes that memvault itself knows, as ten languages name them."""

from __future__ import annotations

from memvault.text.words import folded

# Names that also mean what is kept for good (minutes, a register, a magazine) are left out, as
# what records a session fades.
_NAMES = {
    "preference": "preferences präferenz präferenzen vorliebe vorlieben préférence préférences "
    "preferencia preferencias preferenza preferenze preferência preferências voorkeur voorkeuren "
    "предпочтение предпочтения 好み 偏好",
    "session": "sitzung séance sesión sessione sessão sessie сессия セッション 会话",
    "conversation": "gespräch unterhaltung conversación conversazione conversa gesprek разговор "
    "беседа 会話 对话",
    "chat": "чат チャット 聊天",
    "journal": "tagebuch diario diário dagboek дневник 日記 日记",
    "log": "logbuch logboek ログ 日志",
}


def known_type(kind: str) -> str:
    """The English name of a type that memvault knows; another type in lower case."""
    name = kind.strip()
    return _BY_NAME.get(folded(name), name.casefold())


_BY_NAME = {folded(name): kind for kind, names in _NAMES.items() for name in names.split()}
