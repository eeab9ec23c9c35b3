"""Bytes of a run by what they are for, as the page gives them."""


def run_bytes(sheet, tuning, slots):
    """Bytes of one device, by what they are for, with `slots` slots at once."""
    every, thin = sheet["linear"] + sheet["other"], tuning["rank"] * sheet["adapter"]
    each = {"full": 2, "lora": 2, "4-bit": 0.5 + 4 / 64}[tuning["kind"]]
    states = {"weights": each * sheet["linear"] + 2 * sheet["other"] + 4 * thin,
              "gradients": 4 * thin, "optimizer": 8 * thin}  # fmt: skip
    if tuning["kind"] == "full":
        states = {"weights": 2 * every, "gradients": 2 * every, "optimizer": 12 * every}
    return {**states, "activations": slots * sheet["layers"] * sheet["kept"],
            "logits": slots * 12 * sheet["vocabulary"]}  # fmt: skip
