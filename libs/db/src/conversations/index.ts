export { insertConversation, type NewConversation } from './new-conversation.js';
