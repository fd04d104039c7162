export { advanceRotation, ROTATION_JOB, rotationJob } from './advance-rotation.ts';
export { ownerTasks } from './decide.ts';
export {
  closeWallet,
  countOpenTransactions,
  findOpenRotation,
  findRotation,
  type RotationRow,
  switchWallet,
} from './queries.ts';
