// npm 10 and older drop the `.bin/node` link when two packages of the same file offer it; this puts it back.
// CommonJS and nothing newer than Node 12: it runs on whatever Node the machine has.
'use strict';
const fs = require('fs');
const path = require('path');

const name = 'node-' + process.platform + '-' + process.arch;
try {
  // In the checkout beside this folder, where the exporter is installed above it.
  const folder = path.dirname(require.resolve(name + '/package.json'));
  const link = path.join(folder, '..', '.bin', 'node');
  if (!fs.existsSync(link)) {
    fs.mkdirSync(path.dirname(link), { recursive: true });
    fs.symlinkSync(path.join('..', name, 'bin', 'node'), link);
  }
} catch (error) {
  // A platform without such a package, or an installation that left it out.
  if (error.code !== 'MODULE_NOT_FOUND') throw error;
}
