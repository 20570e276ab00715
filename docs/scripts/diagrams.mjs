/** Writes the diagrams of the site: `node docs/scripts/diagrams.mjs`. They are kept in the repository; a check compares them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { pictures } from './diagrams/pictures.mjs';

const folder = new URL('../public/diagrams/', import.meta.url);

mkdirSync(folder, { recursive: true });
for (const [name, picture] of Object.entries(pictures)) writeFileSync(new URL(`${name}.svg`, folder), picture);
console.log(`${Object.keys(pictures).length} diagrams are in docs/public/diagrams.`);
