"""Writes the training and test data of the word2vec example: train.csv, test.csv and words.txt.

    python prepare.py FOLDER

Every line of the CSV files is one N-gram, five numbers of words: four words and the one that follows them. The text is
made here, from a small grammar, so there is nothing to download. It is about four topics, and a sentence keeps to its
topic: whoever has understood which words belong together can guess the next one.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

N = 5
START, END = "<s>", "<e>"
TOPICS = [
    ("cat dog horse sheep fox", "chases follows bites watches", "young hungry wild lazy", "meadow stable forest"),
    (
        "ship captain sailor pirate fisher",
        "steers anchors boards rescues",
        "brave salty drunken old",
        "harbour island sea",
    ),
    ("cook baker guest waiter child", "bakes tastes serves eats", "sweet fresh burnt warm", "kitchen bakery garden"),
    (
        "violin singer drummer band choir",
        "plays hears records drowns",
        "loud gentle famous tuned",
        "theatre studio concert",
    ),
]

Reader = Callable[[], Iterator[tuple[int, ...]]]


def sentence(random: Random) -> list[str]:
    """For example: the hungry fox chases a young sheep near the meadow."""
    nouns, verbs, adjectives, places = (words.split() for words in random.choice(TOPICS))

    def thing() -> list[str]:
        adjective = [random.choice(adjectives)] if random.random() < 0.7 else []
        return [random.choice(["the", "a"]), *adjective, random.choice(nouns)]

    place = [random.choice(["in", "near"]), "the", random.choice(places)] if random.random() < 0.6 else []
    return [*thing(), random.choice(verbs), *thing(), *place]


def vocabulary() -> list[str]:
    """Every word, at the place of its number."""
    return [
        START,
        END,
        "the",
        "a",
        "in",
        "near",
        *(word for topic in TOPICS for words in topic for word in words.split()),
    ]


def ngrams(sentences: int, seed: int) -> Reader:
    """A reader, as Paddle calls it: a function that goes through the data and yields one sample at a time."""
    numbers = {word: number for number, word in enumerate(vocabulary())}

    def reader() -> Iterator[tuple[int, ...]]:
        random = Random(seed)
        for _ in range(sentences):
            words = [START] * (N - 1) + sentence(random) + [END]
            ids = [numbers[word] for word in words]
            for last in range(N, len(ids) + 1):
                yield tuple(ids[last - N : last])

    return reader


def dataset_from_reader(filename: Path, reader: Reader) -> None:
    """Writes what a reader yields, one sample a line. The file appears only when it is complete."""
    partial = filename.with_suffix(".partial")
    with partial.open("w") as file:
        for sample in reader():
            file.write(",".join(str(number) for number in sample))
            file.write("\n")
    partial.replace(filename)


def prepare(folder: Path, sentences: int = 4000) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "words.txt").write_text("\n".join(vocabulary()) + "\n")
    dataset_from_reader(folder / "test.csv", ngrams(sentences // 10, seed=2))
    dataset_from_reader(folder / "train.csv", ngrams(sentences, seed=1))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python prepare.py FOLDER")
    prepare(Path(sys.argv[1]))
    print(f"wrote train.csv, test.csv and words.txt to {sys.argv[1]}")
