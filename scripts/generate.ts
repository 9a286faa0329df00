import { writeFileSync } from 'node:fs';
import { generated } from './generated.ts';

for (const [path, text] of Object.entries(generated())) writeFileSync(new URL(`../${path}`, import.meta.url), text);
