// What others read in our files. In: {gift: text, qti: [XML]} as JSON. Out: the questions of each, as JSON.
import { readFileSync } from "node:fs";
import { convertQti2toQti3 } from "@citolab/qti-convert/qti-convert-node";
import { load } from "cheerio";
import { parse } from "gift-pegjs";

function ofGift(question) {
  const { title, stem, choices, type, globalFeedback } = question;
  if (type === "Numerical") return { title, asked: stem.text, number: choices, explained: globalFeedback?.text ?? "" };
  return {
    title,
    asked: stem.text,
    answers: choices.map(({ isCorrect, text, feedback }) => ({ right: isCorrect, text: text.text, said: feedback.text })),
    explained: globalFeedback?.text ?? "",
  };
}

async function ofQti(xml) {
  const $ = load(await convertQti2toQti3(xml), { xml: true });
  const inner = (element) => element.children().toArray().map((child) => $.xml(child)).join("");
  const right = $("qti-correct-response qti-value").text();
  const said = (outcome, value) =>
    inner($(`qti-modal-feedback[outcome-identifier=${outcome}][identifier=${value}] qti-content-body`));
  const answers = $("qti-simple-choice").toArray().map((choice) => {
    const letter = $(choice).attr("identifier");
    return { right: letter === right, text: inner($(choice)), said: said("FEEDBACK", letter) };
  });
  const range = Number($("qti-equal").attr("tolerance")?.split(" ")[0]);
  $("qti-choice-interaction").remove();
  return {
    title: $("qti-assessment-item").attr("title"),
    asked: inner($("qti-item-body")),
    answers,
    number: { number: Number(right), range },
    explained: said("EXPLAINED", "ANSWERED"),
  };
}

const { gift, qti } = JSON.parse(readFileSync(0, "utf8"));
const questions = parse(gift).filter(({ type }) => type !== "Category").map(ofGift);
const items = [];
for (const xml of qti) items.push(await ofQti(xml));
console.log(JSON.stringify({ gift: questions, qti: items }));
