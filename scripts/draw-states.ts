import { readFileSync, writeFileSync } from 'node:fs';
import { wordsOf } from '../packages/pages/src/words.ts';
import { drawn, PAGES } from './state-drawings.ts';

wordsOf(
  `node scripts/run.js scripts/draw-states.ts
  Writes the drawings of states in the docs anew, from the tables of moves.`,
  [0, 0],
);
for (const page of PAGES) writeFileSync(page, drawn(readFileSync(page, 'utf8')));
