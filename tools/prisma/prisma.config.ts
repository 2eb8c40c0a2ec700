import { defineConfig } from 'prisma/config';
export default defineConfig({ schema: '../../prisma/app/user-store.prisma' });
