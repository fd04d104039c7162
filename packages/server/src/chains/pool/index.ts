export { addToPool, findPooled, openPool, type PoolPlace, readPool } from './address-pool.ts';
