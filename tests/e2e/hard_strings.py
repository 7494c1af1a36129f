"""Twenty texts that typing programs get wrong, each for a reason of its own."""

from __future__ import annotations

HARD_STRINGS: dict[str, str] = {
    "plain English": "The quick brown fox, well: it jumped over 13 lazy dogs!",
    "capitals side by side": "AaAAaa BbBBbb McDonald iPhone ÄÖÜ äöü ÓóÓó",
    "Polish": "Zażółć gęślą jaźń, pchnąć w tę łódź jeża.",
    "German": "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich – straße, STRASSE, ẞ.",
    "French": "L’été où Noël naquit : œuf, cœur, ça, à, ù, ÿ, « guillemets » …",
    "Turkish and Czech": "İstanbul ışığı, ğ ş ç; příliš žluťoučký kůň",
    "Greek": "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία· ά έ ή ί ό ύ ώ",
    "Cyrillic": "Съешь же ещё этих мягких французских булок, да выпей чаю — ґ є ї ў",
    "Hebrew and Arabic": "שלום עולם 123 abc مرحبا بالعالم ١٢٣",
    "Hindi": "नमस्ते, क्षत्रिय ज्ञान श्री हिन्दी",
    "Chinese and Japanese": "你好，世界。漢字かな交じり文、テスト「括弧」。",
    "Korean": "안녕하세요 세계 각 밟",
    "emoji sequences": "👍 👍🏽 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪🇫🇷 ❤️ 1️⃣ 🫠",
    "combining accents": "e\u0301 n\u0303 a\u030a o\u0302\u0301 \u1e9b\u0323",
    "quotes": "'single' \"double\" ‘curly’ “double” „low“ `back` ´acute´ O'Brien's",
    "symbols of code": 'a{b}[c]|d\\e~ #!/bin/sh $HOME && ls * > /dev/null; <tag attr="1"/> %d @me ^top _x_',
    "dead keys": "^ ~ ` ´ ¨ ^a ~n `e ´e ¨u ¸c °A",
    "tabs and newlines": "first\tsecond\nnext line\tend\n\nafter an empty line",
    "invisible characters": "a\u00a0b\u2009c\u200bd\u200ce\u200df\u2060g\u00adh\u200ei\u200fj",
    "2,000 characters mixed": (
        "Line of words, ÄÖÜ ß, Привет мир, Γειά σου, 你好世界, नमस्ते, 👍🏽 and (brackets) [x] {y} 0123456789. " * 23
    )[:2000],
}
