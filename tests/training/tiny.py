"""Tiny models and generated data for the toolkits. Standard library only: it runs outside of their environments."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
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
    "train_dataset_prob": "1.0",
    "eval_dataset_prob": "1.0",
    "max_seq_len": 64,
    "continue_training": False,  # from weights by chance
    "stage": "SFT",
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
    "sharding": "",
    "dataloader_num_workers": 0,
    "report_to": "none",
}
PADDLEFORMERS = {
    **TRAINING,
    "train_dataset_type": "messages",
    "eval_dataset_type": "messages",
    "packing": False,
    "_attn_implementation": "eager",
    "fine_tuning": "full",
    "tensor_model_parallel_size": 1,
    "pipeline_model_parallel_size": 1,
    "autotuner_benchmark": True,  # trains and saves nothing: saving from two workers needs GPUs
}
# For what it switches off there are kernels for GPUs only.
ERNIEKIT = {
    **TRAINING,
    "train_dataset_type": "erniekit",
    "eval_dataset_type": "erniekit",
    "num_samples_each_epoch": 60,
    "fine_tuning": "Full",
    "fuse_rope": False,
    "fuse_rms_norm": False,
    "fuse_swiglu": False,
    "fuse_gate_detach_matmul": False,
    "use_flash_attention": False,
    "use_sparse_flash_attn": False,
    "use_attn_mask_start_row_indices": False,
    "use_sparse_head_and_loss_fn": False,
    "sft_benchmark": True,  # trains and saves nothing
    "tensor_parallel_degree": 1,
    "pipeline_parallel_degree": 1,
    "amp_master_grad": False,
    "disable_ckpt_quant": True,
    "unified_checkpoint": False,
    "recompute": False,
    "offload_optim": False,
}


def paddleformers_files(folder: Path) -> None:
    """A llama of one layer, words by number, and sentences of four of them."""
    model = _model(folder, MODEL, TOKENIZER)
    (model / "tokenizer.json").write_text(json.dumps(_tokenizer()))
    _settings(folder, "paddleformers", PADDLEFORMERS, [_talk(first) for first in range(60)])


def erniekit_files(folder: Path) -> None:
    """An ERNIE 4.5 of one layer without experts. Its data set passes over sentences of less than ten words."""
    config = {"architectures": ["Ernie4_5_MoeForCausalLM"], "model_type": "ernie4_5_moe", "moe_num_experts": 0}
    model = _model(
        folder,
        {**_without(MODEL, "torch_dtype"), **config, "scale_qk_coeff": 1.0},
        {**TOKENIZER, "tokenizer_class": "Ernie4_5_Tokenizer"},
    )
    (model / "tokenizer.model").write_bytes(_sentencepiece())
    _settings(folder, "erniekit", ERNIEKIT, [_question(first) for first in range(60)])


def _model(folder: Path, config: Mapping[str, object], tokenizer: Mapping[str, object]) -> Path:
    model = folder / "model"
    model.mkdir()
    (model / "config.json").write_text(json.dumps(config))
    (model / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    return model


def _settings(folder: Path, name: str, training: Mapping[str, object], examples: list[object]) -> None:
    for part in ("train", "eval"):
        (folder / f"{part}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in examples))
    paths = {
        "model_name_or_path": str(folder / "model"),
        "train_dataset_path": str(folder / "train.jsonl"),
        "eval_dataset_path": str(folder / "eval.jsonl"),
    }
    (folder / f"{name}.yaml").write_text(json.dumps({**training, **paths}))  # JSON is YAML


def _without(config: Mapping[str, object], name: str) -> dict[str, object]:
    return {key: value for key, value in config.items() if key != name}


def _talk(first: int) -> dict[str, list[dict[str, str]]]:
    asked, answered = f"w{first} w{first + 1}", f"w{first + 2} w{first + 3}"
    return {"messages": [{"role": "user", "content": asked}, {"role": "assistant", "content": answered}]}


def _question(first: int) -> dict[str, list[str]]:
    asked, answered = (" ".join(f"w{first + word}" for word in half) for half in (range(9), range(9, 18)))
    return {"src": [asked], "tgt": [answered]}


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


def _sentencepiece() -> bytes:
    """A model of SentencePiece, as its protobuf is written: nothing but a list of pieces, each with a kind."""
    normal, unknown, control = 1, 2, 3
    special = ("<s>", "</s>", "<pad>", "<cls>", "<sep>", "<mask:0>", "<mask:1>", "<mask:7>", "<|im_end|>")
    words = (f"\u2581{word}" for word in ("user", "assistant", *(f"w{number}" for number in range(WORDS))))
    pieces = [("<unk>", unknown), *((one, control) for one in special), *((one, normal) for one in words)]
    return b"".join(_piece(text.encode(), kind) for text, kind in pieces)


def _piece(text: bytes, kind: int) -> bytes:
    score = struct.pack("<f", -1.0)
    inner = b"\x0a" + bytes([len(text)]) + text + b"\x15" + score + b"\x18" + bytes([kind])
    return b"\x0a" + bytes([len(inner)]) + inner
