"""Items as a package of IMS QTI 2.1: a file for each, and a manifest that lists them.

Feedback is modal, which most players show: that of the answer that was given, and the explanation after any answer.
"""

import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from lessons.teachers.platform import content
from lessons.teachers.platform.items import Item
from words import language, tag_of

QTI, SCHEMA = "http://www.imsglobal.org/xsd/imsqti_v2p1", "http://www.w3.org/2001/XMLSchema-instance"
QTI_SCHEMA = f"{QTI} http://www.imsglobal.org/xsd/qti/qtiv2p1/imsqti_v2p1.xsd"
PACKAGE = "http://www.imsglobal.org/xsd/imscp_v1p1"
RESPONSE, SCORE, FEEDBACK, EXPLAINED = "RESPONSE", "SCORE", "FEEDBACK", "EXPLAINED"
ANSWERED = "ANSWERED"
LETTERS = "ABCD"
FOLDER = "items"  # of the package
BEGINNING = (1980, 1, 1, 0, 0, 0)  # of time, in archives: the same items make the same file


def write_qti(items: Iterable[Item], file: BinaryIO) -> Iterator[None]:
    """Write the package into a file, as an archive: one item at each step, and last what it holds."""
    files: dict[str, list[str]] = {}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for item in items:
            pictures = picture_files(item)
            put(packed, f"{FOLDER}/{item.identifier}.xml", as_file(item_element(item)))
            for picture, name in zip(item.pictures, pictures, strict=True):
                put(packed, f"{FOLDER}/{name}", picture.svg)
            files[item.identifier] = [f"{item.identifier}.xml", *pictures]
            yield
        put(packed, "imsmanifest.xml", as_file(manifest(files)))


def put(packed: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Write one file of the package."""
    about = zipfile.ZipInfo(name, BEGINNING)
    about.compress_type = zipfile.ZIP_DEFLATED
    packed.writestr(about, content)


def as_file(element: Element) -> bytes:
    """An element as a file."""
    indent(element)
    return tostring(element, encoding="utf-8", xml_declaration=True)


def picture_files(item: Item) -> list[str]:
    """The names of an item's pictures, which lie beside it."""
    return [f"{item.identifier}_{place}.svg" for place in range(1, len(item.pictures) + 1)]


def manifest(files: Mapping[str, Sequence[str]]) -> Element:
    """What the package holds: the files of each item, the first of which is the item itself."""
    whole = Element("manifest", {"xmlns": PACKAGE, "identifier": "attention_lab"})
    about = SubElement(whole, "metadata")
    SubElement(about, "schema").text = "QTIv2.1 Package"
    SubElement(about, "schemaversion").text = "1.0.0"
    SubElement(whole, "organizations")
    resources = SubElement(whole, "resources")
    for identifier, names in files.items():
        named = {"identifier": f"of_{identifier}", "type": "imsqti_item_xmlv2p1", "href": f"{FOLDER}/{names[0]}"}
        resource = SubElement(resources, "resource", named)
        for name in names:
            SubElement(resource, "file", href=f"{FOLDER}/{name}")
    return whole


def item_element(item: Item) -> Element:
    """One question."""
    named = {"identifier": item.identifier, "title": item.title, "adaptive": "false", "timeDependent": "false"}
    spaces = {"xmlns": QTI, "xmlns:xsi": SCHEMA, "xsi:schemaLocation": QTI_SCHEMA}
    whole = Element("assessmentItem", spaces | named | {"xml:lang": tag_of(language().code)})
    whole.append(response_declaration(item))
    for name, kind in ((SCORE, "float"), (FEEDBACK, "identifier"), (EXPLAINED, "identifier")):
        SubElement(whole, "outcomeDeclaration", identifier=name, cardinality="single", baseType=kind)
    body = SubElement(whole, "itemBody")
    body.extend(content.asked(item, picture_files(item)))
    body.append(interaction(item))
    whole.append(processing(item))
    for place, option in enumerate(item.options):
        whole.append(modal(FEEDBACK, LETTERS[place], [content.paragraph(option.feedback)]))
    if explained := content.explanation(item):
        whole.append(modal(EXPLAINED, ANSWERED, explained))
    return whole


def response_declaration(item: Item) -> Element:
    """What is answered, and what is right."""
    kind = "identifier" if item.options else "float"
    declared = Element("responseDeclaration", identifier=RESPONSE, cardinality="single", baseType=kind)
    right = SubElement(SubElement(declared, "correctResponse"), "value")
    right.text = LETTERS[item.right] if item.options else repr(item.number)
    return declared


def interaction(item: Item) -> Element:
    """Answers to choose from, or a field for a number."""
    if not item.options:
        line = Element("p")
        SubElement(line, "textEntryInteraction", responseIdentifier=RESPONSE, expectedLength="10")
        return line
    chosen = Element("choiceInteraction", responseIdentifier=RESPONSE, shuffle="true", maxChoices="1")
    for letter, option in zip(LETTERS, item.options, strict=False):
        SubElement(chosen, "simpleChoice", identifier=letter).extend(content.choice(option))
    return chosen


def processing(item: Item) -> Element:
    """What follows from an answer: the score, what is said to it, and the explanation."""
    rules = Element("responseProcessing")
    condition = SubElement(rules, "responseCondition")
    first = SubElement(condition, "responseIf")
    if item.options:
        compared = SubElement(first, "match")
    else:
        compared = SubElement(
            first, "equal", toleranceMode="absolute", tolerance=f"{item.tolerance!r} {item.tolerance!r}"
        )
    SubElement(compared, "variable", identifier=RESPONSE)
    SubElement(compared, "correct", identifier=RESPONSE)
    outcome(first, SCORE, "float", "1")
    outcome(SubElement(condition, "responseElse"), SCORE, "float", "0")
    if item.options:
        said = SubElement(rules, "setOutcomeValue", identifier=FEEDBACK)
        SubElement(said, "variable", identifier=RESPONSE)
    outcome(rules, EXPLAINED, "identifier", ANSWERED)
    return rules


def outcome(rules: Element, name: str, kind: str, value: str) -> None:
    """Set an outcome."""
    SubElement(SubElement(rules, "setOutcomeValue", identifier=name), "baseValue", baseType=kind).text = value


def modal(name: str, value: str, said: Iterable[Element]) -> Element:
    """What is said where an outcome has this value."""
    feedback = Element("modalFeedback", outcomeIdentifier=name, identifier=value, showHide="show")
    feedback.extend(said)
    return feedback
