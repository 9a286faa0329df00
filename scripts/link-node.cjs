// npm 10 and older drop the link `.bin/node` if two packages offer it; this script restores the link.
// This script is CommonJS without features newer than Node 12, because it runs on any Node that the machine has.
'use strict';
const fs = require('fs');
const path = require('path');

const name = 'node-' + process.platform + '-' + process.arch;
try {
  // In a checkout, the package is beside this folder; if the exporter is itself a package, in a folder above.
  const folder = path.dirname(require.resolve(name + '/package.json'));
  const link = path.join(folder, '..', '.bin', 'node');
  if (!fs.existsSync(link)) {
    fs.mkdirSync(path.dirname(link), { recursive: true });
    fs.symlinkSync(path.join('..', name, 'bin', 'node'), link);
  }
} catch (error) {
  // The platform has no such package, or the installation omitted the package.
  if (error.code !== 'MODULE_NOT_FOUND') throw error;
}
