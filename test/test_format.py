"""The format of the tests, which lit's workers must find by its name."""

import glob
import os
import shutil

import lit.formats
import lit.Test
import lit.TestRunner


class RemovingShTest(lit.formats.ShTest):
    """Removes what a test has made once it passes: programs with a runtime each, gigabytes in all. REGRAIN_LIT_KEEP=1 keeps it."""

    def execute(self, test, lit_config):
        result = super().execute(test, lit_config)
        if result.code == lit.Test.PASS and "REGRAIN_LIT_KEEP" not in os.environ:
            _, base = lit.TestRunner.getTempPaths(test)
            for path in glob.glob(glob.escape(base) + "*"):
                if os.path.isdir(path) and not os.path.islink(path):
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    os.remove(path)
        return result
