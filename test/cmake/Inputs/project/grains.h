#pragma once
void fill(float *data, int n);
void scale(float *data, float by, int n);
float sum(const float *data, int n);
float run(int n);
