export { makeSignInLink } from './links.ts';
export { endAllSessions } from './sessions.ts';
export {
  changeRole,
  findUserByEmail,
  inviteUser,
  listUsers,
  normalEmail,
} from './users.ts';
