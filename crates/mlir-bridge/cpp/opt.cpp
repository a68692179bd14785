//===- opt.cpp - the body of an mlir-opt --------------------------------------===//

#include "bridge.h"
#include "registry.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

using namespace mlir;

int regrainOptMain(int argc, char **argv, const char *tool) {
  DialectRegistry registry;
  regrain_bridge::fillRegistry(registry);
  return asMainReturnCode(MlirOptMain(argc, argv, tool, registry));
}
