package stardust

// remember registers an open stream, so that Close can end it. A database that
// closed meanwhile closes the stream at once.
func (db *DB) remember(s *PluginStream) (*PluginStream, error) {
	db.mu.Lock()
	if !db.closed {
		db.streams[s] = struct{}{}
		db.mu.Unlock()
		return s, nil
	}
	db.mu.Unlock()
	s.shut()
	return nil, errClosed()
}

func (db *DB) forget(s *PluginStream) {
	db.mu.Lock()
	defer db.mu.Unlock()
	delete(db.streams, s)
}

// closeStreams ends the streams that were left open. No call is under way any
// more, and none can begin.
func (db *DB) closeStreams() {
	db.mu.Lock()
	streams := db.streams
	db.streams = nil
	db.mu.Unlock()
	for s := range streams {
		s.shut()
	}
}
