"""Generators of training prompts, a module a domain: each has `prompts(seed, count)`, distinct prompts that are the same
ones for the same seed."""

from composed import coding_tasks, factual_questions, news_articles, translation_sentences, word_problems

COMPOSED = {
    "code": coding_tasks,
    "math": word_problems,
    "qa": factual_questions,
    "summarization": news_articles,
    "translation": translation_sentences,
}
