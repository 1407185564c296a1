"""Tiny models and generated data for the toolkits. Standard library only: it runs outside of their environments."""

from __future__ import annotations

import json
from pathlib import Path

SPECIAL = ("<unk>", "<s>", "</s>", "<pad>", "<|im_start|>", "<|im_end|>", "user", "assistant")
WORDS = 90
MODEL = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "vocab_size": 128,
    "max_position_embeddings": 128,
    "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0,
    "tie_word_embeddings": False,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 3,
    "hidden_act": "silu",
    "initializer_range": 0.02,
    "torch_dtype": "float32",
    "fuse_rms_norm": False,  # there is a kernel for GPUs only
}
TOKENIZER = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "unk_token": "<unk>",
    "bos_token": "<s>",
    "eos_token": "</s>",
    "pad_token": "<pad>",
    "model_max_length": 128,
    "chat_template": "{% for one in messages %}{{ one['role'] }} {{ one['content'] }} <|im_end|> {% endfor %}",
}
TRAINING = {
    "train_dataset_type": "messages",
    "eval_dataset_type": "messages",
    "train_dataset_prob": "1.0",
    "eval_dataset_prob": "1.0",
    "max_seq_len": 64,
    "packing": False,
    "continue_training": False,  # from weights by chance
    "_attn_implementation": "eager",
    "stage": "SFT",
    "fine_tuning": "full",
    "seed": 7,
    "do_train": True,
    "do_eval": False,
    "per_device_train_batch_size": 1,
    "gradient_accumulation_steps": 1,
    "max_steps": 3,
    "num_train_epochs": 1,
    "logging_steps": 1,
    "save_strategy": "no",
    "evaluation_strategy": "no",
    "output_dir": "./out",
    "overwrite_output_dir": True,
    "disable_tqdm": True,
    "device": "cpu",
    "bf16": False,
    "fp16": False,
    "fp16_opt_level": "O0",
    "learning_rate": 0.001,
    "tensor_model_parallel_size": 1,
    "pipeline_model_parallel_size": 1,
    "sharding": "",
    "dataloader_num_workers": 0,
    "report_to": "none",
    "autotuner_benchmark": True,  # trains and saves nothing: saving from two workers needs GPUs
}


def paddleformers_files(folder: Path) -> None:
    """A llama of one layer, words by number, and sentences of four of them."""
    model = folder / "model"
    model.mkdir()
    (model / "config.json").write_text(json.dumps(MODEL))
    (model / "tokenizer_config.json").write_text(json.dumps(TOKENIZER))
    (model / "tokenizer.json").write_text(json.dumps(_tokenizer()))
    for name in ("train", "eval"):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(_talk(first)) + "\n" for first in range(60)))
    paths = {
        "model_name_or_path": str(model),
        "train_dataset_path": str(folder / "train.jsonl"),
        "eval_dataset_path": str(folder / "eval.jsonl"),
    }
    (folder / "paddleformers.yaml").write_text(json.dumps({**TRAINING, **paths}))  # JSON is YAML


def _talk(first: int) -> dict[str, list[dict[str, str]]]:
    asked, answered = f"w{first} w{first + 1}", f"w{first + 2} w{first + 3}"
    return {"messages": [{"role": "user", "content": asked}, {"role": "assistant", "content": answered}]}


def _tokenizer() -> dict[str, object]:
    vocabulary = {word: number for number, word in enumerate((*SPECIAL, *(f"w{number}" for number in range(WORDS))))}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "<unk>"},
    }
