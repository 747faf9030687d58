"""Sentences where Streamlit reads Markdown: in headlines and on cards. The only way for a visitor's words to get there.

Streamlit reads more than Markdown: colours, emoji, icons, formulas, arrows, bare addresses. Some of it is looked for
only after Markdown's backslashes are gone. So before each sign stands, besides a backslash, a character that nobody
sees and that keeps words and signs apart.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from lessons.screen import Argument, ListOf, Message, Token, format_value, is_wide_letter, listed, template_of
from words import language

ENDS_A_LINE = re.compile(r"[^\S\u00a0\u202f]+")  # all white space but what holds words together
APART = "\u2060"  # the word joiner: no width, and no line breaks at it
MAY_BREAK = "\u200b"  # no width, and a line may end at it
SIGN = re.compile(r"([!-/:-@\[-`{-~])")  # all of ASCII that is neither letter, digit nor space
LONG_NAME = re.compile(r"(?<=_)(?=[A-Za-z_]{9})")  # where a line of a phone may end in a name such as PyTorch's
OUR_SIGN = re.compile(r"([\\`*_\[\]<>$#~|])(?![^{}]*})")  # our templates mean none as markup; names in braces stay
BEFORE_WIDE = re.compile(r"}(?=(.))")
CHINESE_WORDS = re.compile(  # of questions and headlines
    "语言模型|注意力|另一个|词元|权重|分数|查询|特征|位置|输出|掩码|温度|点积|损失|梯度|训练|缩放|模型|概率|向量|矩阵|形状|句子|文本"
    "|乘法|数值|参数|多少|哪个|哪里|什么|怎样|怎么|知道|最大|最小|最多|所有|一个|每个|这个|平均|没有|相同|变为|加上|除以|正确"
    "|得到|之前|之后|需要|如果|可能|自己|现在|打乱|看到"
)
LATEX = re.compile(r"[${}]")  # of the formulas that labels have
ROLE_COLOURS = {"query": "blue", "key": "orange"}


def plain_label(text: str | Message) -> str:
    """The label of a control without LaTeX: screen readers are given it as it is written, and would read $ and {."""
    return LATEX.sub("", format_value(text).replace(r"\sqrt", "√"))


def literal(text: str) -> str:
    """Any text as Markdown that reads as exactly this text, on one line."""
    return SIGN.sub(rf"{APART}\\\1", ENDS_A_LINE.sub(" ", text).strip(" "))


def marked(sentence: Message, colours: Mapping[str, str] = MappingProxyType({})) -> str:
    """A sentence as Markdown; arguments of these names are coloured."""
    arguments = {}
    for name, argument in sentence.arguments.items():
        text = marked_argument(argument, colours)
        arguments[name] = f":{colours[name]}[{text}]" if name in colours else text
    template = held(OUR_SIGN.sub(r"\\\1", LONG_NAME.sub(MAY_BREAK, template_of(sentence))))
    return language().put_in(template.format_map(arguments)) if arguments else template


def held(template: str) -> str:
    """A template in which no line ends between a name and a wide letter after it, as in a Japanese token and its
    particle: a colour would let it. Nor does one end in a Chinese word; of Japanese words browsers know it.
    """
    if language().code == "zh":
        template = CHINESE_WORDS.sub(lambda found: APART.join(found[0]), template)
    return BEFORE_WIDE.sub(lambda found: found[0] + APART if is_wide_letter(found[1]) else found[0], template)


def marked_argument(argument: Argument, colours: Mapping[str, str]) -> str:
    """An argument as Markdown: a sentence in the same way, words literally; numbers are as they are."""
    if isinstance(argument, Message):
        return marked(argument, colours)
    if isinstance(argument, ListOf):
        return listed([marked_argument(item, colours) for item in argument.items])
    return literal(format_value(argument)) if isinstance(argument, str | Token) else format_value(argument)
