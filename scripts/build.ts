import { join } from 'node:path';
import { buildPackage } from './build/package.ts';

/** `npm run build [folder]` builds everything that is shipped, in `dist/` or in another folder. */
const { files, bytes } = await buildPackage(process.argv[2] ?? join(import.meta.dirname, '..', 'dist'));
console.log(`${files} files, ${(bytes / 1e6).toFixed(1)} MB`);
