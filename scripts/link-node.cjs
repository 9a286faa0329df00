// npm 10 and older drop the `.bin/node` link when two packages of the same file offer it; this puts it back.
// CommonJS and nothing newer than Node 12: it runs on whatever Node the machine has.
'use strict';
const fs = require('fs');
const path = require('path');

const modules = path.join(__dirname, '..', 'node_modules');
const binary = path.join(modules, 'node-' + process.platform + '-' + process.arch, 'bin', 'node');
const link = path.join(modules, '.bin', 'node');

if (fs.existsSync(binary) && !fs.existsSync(link)) {
  fs.mkdirSync(path.dirname(link), { recursive: true });
  fs.symlinkSync(path.relative(path.dirname(link), binary), link);
}
