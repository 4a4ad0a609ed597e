"""Memory of cards as nvidia-smi's memory.total prints it, in MiB."""

T4 = 15_360
RTX_4090 = 24_564
RTX_5090 = 32_607
L40S = 46_068
A6000 = 49_140
H100 = 81_559
A100 = 81_920
H20 = 97_871
H200 = 143_771
B200 = 183_359
MI300X = 196_592
