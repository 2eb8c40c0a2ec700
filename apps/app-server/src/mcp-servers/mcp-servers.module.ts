import { Module } from '@nestjs/common';
import { McpServersController } from './mcp-servers.controller.js';
import { McpServersService } from './mcp-servers.service.js';

@Module({ controllers: [McpServersController], providers: [McpServersService] })
export class McpServersModule {}
