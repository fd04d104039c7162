import { readFileSync, writeFileSync } from 'node:fs';
import { drawn, PAGES } from './state-drawings.ts';

/** `node scripts/run.js scripts/draw-states.ts` writes the drawings of states in the docs anew from the tables of moves. */
for (const page of PAGES) writeFileSync(page, drawn(readFileSync(page, 'utf8')));
