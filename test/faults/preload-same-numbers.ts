// Loaded into a process before the service: every worker draws the same numbers, one after the other, as its own.
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

const OWNER_MAX = 2 ** 31 - 1;
const draw = crypto.randomInt;
let next = 7;

Object.assign(crypto, {
  randomInt: (min: number, max?: number) => {
    if (max === OWNER_MAX) return next++;
    return max === undefined ? draw(min) : draw(min, max);
  },
});
syncBuiltinESMExports();
